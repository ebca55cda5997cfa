//! Idempotency keys: the answers of requests that succeeded. Each is committed with the change that
//! it answers, so that a repeated request gets it and changes nothing.

use crate::buckets::Buckets;
use crate::rows::{id_bytes, message_id};
use crate::wallets;
use database::{Change, Db, Error, Result, Tx, bulk, query, value};
use domain::idempotency::{self, Decision, IdempotencyKey, KeyState, RequestFingerprint};
use domain::{AccountId, Bucket, Environment, MessageId, Refusal};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The key of a request, and its meaning.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyedRequest {
    /// The key.
    pub key: IdempotencyKey,
    /// The request.
    pub request: RequestFingerprint,
    /// The time for which the answer is kept, milliseconds.
    pub window_ms: i64,
}

/// The answer to a request, as it was given.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
    /// The message that was made or changed, if it was one.
    pub message: Option<MessageId>,
}

/// The kept answer of a key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeptAnswer {
    /// The request that it answers.
    pub request: RequestFingerprint,
    /// The moment of its commit, Unix milliseconds.
    pub kept_at_ms: i64,
    /// The answer.
    pub answer: StoredAnswer,
}

impl KeptAnswer {
    /// Returns what a decision needs to know.
    pub fn state(&self) -> KeyState {
        KeyState::Kept {
            request: self.request,
            kept_at_ms: self.kept_at_ms,
        }
    }
}

/// The key of a change, and the writer of its answer.
pub struct KeyedChange<T> {
    /// The key and the request.
    pub request: KeyedRequest,
    /// The writer of the answer to the change.
    pub answer: WriteAnswer<T>,
}

/// A writer of the answer to a change.
pub type WriteAnswer<T> = Arc<dyn Fn(&T) -> StoredAnswer + Send + Sync>;

/// The outcome of a change that may have an idempotency key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome<T> {
    /// The change is made.
    Made(T),
    /// The same request was handled under its key before, with this answer. Nothing is changed.
    Replay(StoredAnswer),
    /// The change is refused.
    Refused(Refusal),
}

/// The place of a key: bucket, account, sandbox, key.
pub(crate) type Place = (Bucket, AccountId, bool, String);

/// An answer to keep.
pub(crate) struct NewAnswer<'a> {
    pub(crate) place: &'a Place,
    pub(crate) request: &'a KeyedRequest,
    pub(crate) answer: StoredAnswer,
}

struct KeyRow {
    bucket: i16,
    account_id: i64,
    sandbox: bool,
    key: String,
    request: Vec<u8>,
    kept_at_ms: i64,
    status: i64,
    message_id: Option<Vec<u8>>,
    body: String,
}

database::from_row!(KeyRow {
    bucket,
    account_id,
    sandbox,
    key,
    request,
    kept_at_ms,
    status,
    message_id,
    body
});

impl KeyRow {
    fn read(self) -> Result<(Place, KeptAnswer)> {
        let request = RequestFingerprint::try_from(self.request)
            .map_err(|_| Error::Unreadable("a request of another length".to_owned()))?;
        let status = u16::try_from(self.status)
            .map_err(|_| Error::Unreadable(format!("the HTTP status {}", self.status)))?;
        let kept = KeptAnswer {
            request,
            kept_at_ms: self.kept_at_ms,
            answer: StoredAnswer {
                status,
                body: self.body,
                message: self.message_id.as_deref().map(message_id).transpose()?,
            },
        };
        let place = (
            Bucket(self.bucket.into()),
            AccountId(self.account_id),
            self.sandbox,
            self.key,
        );
        Ok((place, kept))
    }
}

/// Returns the kept answers of these keys.
pub(crate) async fn find(
    tx: &mut Tx,
    places: &BTreeSet<Place>,
) -> Result<BTreeMap<Place, KeptAnswer>> {
    let find = bulk(
        "select bucket, account_id, sandbox, key, request, kept_at_ms,
         cast(status as bigint) as status, message_id, body
         from idempotency_keys where bucket = $1 and account_id = $2 and sandbox = $3
             and key = $4",
        "select bucket, account_id, sandbox, key, request, kept_at_ms,
         cast(status as bigint) as status, message_id, body
         from idempotency_keys where (bucket, account_id, sandbox, key) in (select *
             from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[]))",
    );
    let find = find.rows(places, |(bucket, account, sandbox, key)| {
        [
            value(bucket.0),
            value(account.0),
            value(*sandbox),
            value(key),
        ]
    });
    let rows: Vec<KeyRow> = tx.fetch_each(find).await?;
    rows.into_iter().map(KeyRow::read).collect()
}

/// Keeps the answers of changes that the same transaction makes. The keys were looked up in it,
/// under the locks of their accounts' wallets. An answer that is kept no longer is replaced.
pub(crate) async fn keep(tx: &mut Tx, answers: &[NewAnswer<'_>], now_ms: i64) -> Result<()> {
    let keep = bulk(
        "insert into idempotency_keys (bucket, account_id, sandbox, key, request,
         kept_at_ms, status, message_id, body)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (bucket, account_id, sandbox, key) do update set request = excluded.request,
             kept_at_ms = excluded.kept_at_ms, status = excluded.status,
                 message_id = excluded.message_id, body = excluded.body",
        "insert into idempotency_keys (bucket, account_id, sandbox, key, request,
         kept_at_ms, status, message_id, body)
         select * from unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[],
             $5::bytea[], $6::bigint[], $7::bigint[], $8::bytea[], $9::text[])
         on conflict (bucket, account_id, sandbox, key) do update set request = excluded.request,
             kept_at_ms = excluded.kept_at_ms, status = excluded.status,
                 message_id = excluded.message_id, body = excluded.body",
    );
    let keep = keep.rows(answers, |new| {
        let (bucket, account, sandbox, key) = new.place;
        [
            value(bucket.0),
            value(account.0),
            value(*sandbox),
            value(key),
            value(&new.request.request[..]),
            value(now_ms),
            value(i64::from(new.answer.status)),
            value(new.answer.message.as_ref().map(id_bytes)),
            value(&new.answer.body),
        ]
    });
    tx.execute_each(keep).await?;
    Ok(())
}

/// Looks the key of a change up, in its transaction and under the lock of its account's wallet.
/// Returns `None` if the change is to be made.
pub(crate) async fn look_up<T>(
    tx: &mut Tx,
    place: &Place,
    request: &KeyedRequest,
    now_ms: i64,
) -> Result<Option<Outcome<T>>> {
    let &(bucket, account, ..) = place;
    wallets::lock(tx, &[(bucket, account)]).await?;
    let kept = find(tx, &BTreeSet::from([place.clone()])).await?;
    let Some((_, kept)) = kept.into_iter().next() else {
        return Ok(None);
    };
    let decision = idempotency::decide(kept.state(), request.request, now_ms, request.window_ms);
    Ok(match decision {
        Ok(Decision::Handle) => None,
        Ok(Decision::Replay) => Some(Outcome::Replay(kept.answer)),
        Err(refusal) => Some(Outcome::Refused(refusal)),
    })
}

/// Returns `true` if an answer to this request is kept from this moment or later.
pub(crate) async fn is_kept(
    tx: &mut Tx,
    place: &Place,
    request: &KeyedRequest,
    now_ms: i64,
) -> Result<bool> {
    let kept = find(tx, &BTreeSet::from([place.clone()])).await?;
    let is_it = |kept: &KeptAnswer| kept.request == request.request && kept.kept_at_ms >= now_ms;
    Ok(kept.values().any(is_it))
}

/// Removes the oldest answers of a bucket that were kept before a time, and returns their number.
pub(crate) async fn remove_old(
    tx: &mut Tx,
    bucket: Bucket,
    before_ms: i64,
    most: i64,
) -> Result<u64> {
    let remove = query(
        "delete from idempotency_keys where bucket = $1 and kept_at_ms < $2
             and kept_at_ms <= coalesce(
             (select kept_at_ms from idempotency_keys where bucket = $1 and kept_at_ms < $2
              order by kept_at_ms limit 1 offset $3), $2)",
    );
    tx.execute(remove.bind(bucket.0).bind(before_ms).bind(most - 1))
        .await
}

/// Returns the place of a key.
pub(crate) fn place_of_key(
    buckets: Buckets,
    account: AccountId,
    environment: Environment,
    key: &IdempotencyKey,
) -> Place {
    let sandbox = environment == Environment::Sandbox;
    let bucket = buckets.account(account);
    (bucket, account, sandbox, key.as_str().to_owned())
}

/// Returns the kept answer of a key.
pub(crate) async fn kept_answer(
    db: &Db,
    account: AccountId,
    environment: Environment,
    key: &IdempotencyKey,
) -> Result<Option<KeptAnswer>> {
    let place = place_of_key(Buckets::of(db), account, environment, key);
    let mut tx = db.read().await?;
    let mut found = find(&mut tx, &BTreeSet::from([place])).await?;
    Ok(found.pop_first().map(|(_, kept)| kept))
}

/// The storage of an answer whose request changed nothing that a repetition would change again.
pub(crate) struct KeepAnswer {
    pub(crate) buckets: Buckets,
    pub(crate) account: AccountId,
    pub(crate) environment: Environment,
    pub(crate) request: KeyedRequest,
    pub(crate) answer: StoredAnswer,
    pub(crate) now_ms: i64,
}

impl Change for KeepAnswer {
    type Output = Outcome<()>;

    async fn apply(&self, tx: &mut Tx) -> Result<Outcome<()>> {
        let key = &self.request.key;
        let place = place_of_key(self.buckets, self.account, self.environment, key);
        if let Some(outcome) = look_up(tx, &place, &self.request, self.now_ms).await? {
            return Ok(outcome);
        }
        let new = NewAnswer {
            place: &place,
            request: &self.request,
            answer: self.answer.clone(),
        };
        keep(tx, &[new], self.now_ms).await?;
        Ok(Outcome::Made(()))
    }
}
