//! The origins with due callbacks.

use super::event::DUE;
use crate::buckets::Buckets;
use crate::rows::environment;
use database::{Db, Result, Tx, query};
use domain::smpp_receipt::user_of;
use domain::{AccountId, Bucket, Environment};

/// An origin of an account in one environment: bucket, account, environment and origin, in the
/// order of the key.
pub type OriginKey = (Bucket, AccountId, Environment, String);

/// Origins found in some steps of a round over all of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DueOrigins {
    /// Origins with due callbacks, each once, bucket by bucket.
    pub found: Vec<OriginKey>,
    /// The origin after which the round continues. It is `None` at the end of the round.
    pub behind: Option<OriginKey>,
}

/// Returns the first origin after `last` with waiting callbacks, and the due time of its first one.
async fn next_origin(
    tx: &mut Tx,
    bucket: Bucket,
    last: &(i64, bool, String),
) -> Result<Option<(i64, bool, String, i64)>> {
    tx.fetch_optional(
        query(
            "select account_id, sandbox, destination, due_at_ms from outbox
         where bucket = $1 and state = $2 and (account_id, sandbox, destination) > ($3, $4, $5)
         order by account_id, sandbox, destination, due_at_ms limit 1",
        )
        .bind(bucket.0)
        .bind(DUE)
        .bind(last.0)
        .bind(last.1)
        .bind(&last.2),
    )
    .await
}

/// Returns the origins with due callbacks, starting after `behind` or at the first. It reads at
/// most `steps` origins with waiting callbacks, due or not, because there may be as many
/// origins as callbacks.
pub(super) async fn due(
    db: &Db,
    now_ms: i64,
    behind: Option<&OriginKey>,
    steps: usize,
) -> Result<DueOrigins> {
    Db::in_time(async {
        let mut tx = db.read().await?;
        let (mut found, mut left) = (Vec::new(), steps);
        let first = behind.map(|(bucket, ..)| *bucket);
        let buckets = Buckets::of(db).all();
        for bucket in buckets.filter(|&bucket| first.is_none_or(|first| first <= bucket)) {
            let mut last = match behind {
                Some((of, account, world, origin)) if *of == bucket => {
                    let sandbox = *world == Environment::Sandbox;
                    (account.0, sandbox, origin.clone())
                }
                _ => (i64::MIN, false, String::new()),
            };
            // The loop jumps from one origin to the next along the key, however many callbacks
            // each has.
            loop {
                if left == 0 {
                    let (account, sandbox, origin) = last;
                    let behind = (bucket, AccountId(account), environment(sandbox), origin);
                    let behind = Some(behind);
                    return Ok(DueOrigins { found, behind });
                }
                let next = next_origin(&mut tx, bucket, &last).await?;
                let Some((account, sandbox, origin, due_at_ms)) = next else {
                    break;
                };
                left -= 1;
                if due_at_ms <= now_ms && user_of(&origin).is_none() {
                    let world = environment(sandbox);
                    found.push((bucket, AccountId(account), world, origin.clone()));
                }
                last = (account, sandbox, origin);
            }
        }
        let behind = None;
        Ok(DueOrigins { found, behind })
    })
    .await
}
