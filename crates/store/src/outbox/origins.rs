//! The origins whose callbacks are due.

use super::DUE;
use crate::Store;
use crate::rows::environment;
use database::{Db, Result, Tx, query};
use domain::{AccountId, Bucket, Environment};

/// An origin of an account in one world: bucket, account, world and origin, in the order of the key.
pub type OriginKey = (Bucket, AccountId, Environment, String);

/// Origins found in some steps of a round over all of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DueOrigins {
    /// Those with callbacks that are due, each once; bucket by bucket.
    pub found: Vec<OriginKey>,
    /// Behind which one the round goes on; `None` where it is over.
    pub behind: Option<OriginKey>,
}

/// The first origin behind `last` for which callbacks wait, with when its first one is due.
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

impl Store {
    /// The origins of callbacks that are due, from the one behind `behind` on, or from the first. Looks at `steps` of
    /// those at most for which any wait, due or not: there may be as many as there are callbacks.
    pub async fn due_origins(
        &self,
        now_ms: i64,
        behind: Option<&OriginKey>,
        steps: usize,
    ) -> Result<DueOrigins> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let (mut found, mut left) = (Vec::new(), steps);
            let first = behind.map(|(bucket, ..)| *bucket);
            let buckets = self.buckets();
            for bucket in buckets.filter(|&bucket| first.is_none_or(|first| first <= bucket)) {
                let mut last = match behind {
                    Some((of, account, world, origin)) if *of == bucket => {
                        let sandbox = *world == Environment::Sandbox;
                        (account.0, sandbox, origin.clone())
                    }
                    _ => (i64::MIN, false, String::new()),
                };
                // Jumps from one origin to the next along the key, however many callbacks each has.
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
                    if due_at_ms <= now_ms {
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
}
