//! The outbox: events for customers that wait, are in flight, or are dead.
//!
//! A row has an event id, an account, a kind, a subject, a payload, a destination, a due time,
//! attempts and a state. The final status of a recipient is the first kind. Its subject is the
//! message, its payload the status, and its destination the origin of the callback URL. The message
//! has the URL and the reference of the customer.

mod attempts;
mod dead;
mod finish;
mod origins;
mod secrets;

pub use attempts::{Attempted, CallbackAttempt};
pub use dead::{DeadOrigin, DeadOriginKey};
pub use origins::{DueOrigins, OriginKey};
pub use secrets::CallbackSecret;

use crate::Store;
use crate::batches::WAITING;
use crate::rows::{environment, id_bytes, message_id, named, number, recipient};
use database::{Change, Result, Tx, bulk, by_whole_keys, locking, query, value};
use domain::{AccountId, Bucket, DeliveryStatus, Environment, EventId, MessageId, Recipient};
use std::collections::HashSet;
use std::sync::Arc;

domain::named_enum! {
    /// The kinds of events.
    pub enum EventKind {
        /// The final status of one recipient of a message.
        DeliveryStatus = "delivery_status",
    }
}

/// The final status of one recipient, for delivery to its customer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Callback {
    /// The bucket of the account's rows.
    pub bucket: Bucket,
    /// The account.
    pub account: AccountId,
    /// The environment of its message: live or sandbox.
    pub environment: Environment,
    /// Scheme, host and port of the address.
    pub origin: String,
    /// Due time, Unix milliseconds.
    pub due_at_ms: i64,
    /// The message.
    pub message: MessageId,
    /// The recipient.
    pub recipient: Recipient,
    /// The final status.
    pub status: DeliveryStatus,
    /// Attempts made.
    pub attempts: i64,
    /// The URL.
    pub url: Arc<str>,
    /// The caller's own reference.
    pub customer_reference: Option<Arc<str>>,
}

impl Callback {
    /// Returns the event id, which all attempts share.
    pub fn event_id(&self) -> EventId {
        EventId::of_delivery(self.message, self.recipient)
    }

    /// Returns `true` if its message belongs to the sandbox.
    fn is_sandbox(&self) -> bool {
        self.environment == Environment::Sandbox
    }
}

/// The result of a claimed callback.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finished {
    /// It is delivered and removed.
    Done,
    /// It is tried again.
    Retry {
        /// Time of the next attempt, Unix milliseconds.
        at_ms: i64,
    },
    /// It is dead: kept, but not tried again.
    Dead,
    /// It is dead, and so are all others of its message.
    EndMessage,
    /// It is dead without an attempt.
    GivenUp,
    /// It was not tried, and returns unchanged.
    Untouched,
}

/// A claimed callback with its result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttemptOutcome {
    /// The callback.
    pub callback: Callback,
    /// The result.
    pub finished: Finished,
    /// The attempt, if it is to be logged.
    pub attempted: Option<Attempted>,
}

impl AttemptOutcome {
    /// Returns an outcome without an attempt to log.
    pub fn new(callback: Callback, finished: Finished) -> Self {
        Self {
            callback,
            finished,
            attempted: None,
        }
    }
}

/// Returns the lowest and the highest id of a message, or of all.
fn messages(message: Option<MessageId>) -> [Vec<u8>; 2] {
    match message {
        Some(message) => [id_bytes(&message).to_vec(), id_bytes(&message).to_vec()],
        None => [vec![0; 16], vec![0xFF; 16]],
    }
}

const DUE: &str = "due";
const CLAIMED: &str = "claimed";
const DEAD: &str = "dead";
/// The states of callbacks in the outbox.
pub const CALLBACK_STATES: [&str; 3] = [DUE, CLAIMED, DEAD];

/// Inserts callbacks. `claimed` names the node that claims them, and the end of its claim.
pub(crate) async fn insert(
    tx: &mut Tx,
    callbacks: &[Callback],
    claimed: Option<(i64, i64)>,
) -> Result<()> {
    let state = if claimed.is_some() { CLAIMED } else { DUE };
    insert_as(
        tx,
        &callbacks.iter().collect::<Vec<_>>(),
        state,
        claimed.unwrap_or_default(),
    )
    .await
}

async fn insert_as(
    tx: &mut Tx,
    callbacks: &[&Callback],
    state: &str,
    (node, until_ms): (i64, i64),
) -> Result<()> {
    tx.execute_each(bulk("insert into outbox (bucket, state, account_id, sandbox, destination, due_at_ms, event_id, kind,
             subject, recipient, payload, attempts, claimed_by, claimed_until_ms)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) on conflict do nothing", "insert into outbox (bucket, state, account_id, sandbox, destination, due_at_ms, event_id, kind,
             subject, recipient, payload, attempts, claimed_by, claimed_until_ms)
         select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[], $5::text[], $6::bigint[], $7::bytea[], $8::text[], $9::bytea[], $10::bigint[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[]) on conflict do nothing").rows(callbacks, |callback| [value(callback.bucket.0), value(state), value(callback.account.0), value(callback.is_sandbox()), value(&callback.origin), value(callback.due_at_ms), value(callback.event_id().as_bytes().to_vec()), value(EventKind::DeliveryStatus.as_str()), value(id_bytes(&callback.message)), value(number(callback.recipient)), value(callback.status.as_str()), value(callback.attempts), value(node), value(until_ms)])).await?;
    Ok(())
}

/// Returns `true` if callbacks that were claimed together are still claimed by that node, and
/// `false` if there are none.
pub(crate) async fn are_claimed(tx: &mut Tx, callbacks: &[Callback], node: i64) -> Result<bool> {
    let Some(first) = callbacks.first() else {
        return Ok(false);
    };
    let found: Option<i64> = tx
        .fetch_optional(
            query(
                "select attempts from outbox where bucket = $1 and state = $2 and account_id = $3
             and sandbox = $4 and destination = $5 and due_at_ms = $6 and event_id = $7
             and claimed_by = $8",
            )
            .bind(first.bucket.0)
            .bind(CLAIMED)
            .bind(first.account.0)
            .bind(first.is_sandbox())
            .bind(&first.origin)
            .bind(first.due_at_ms)
            .bind(first.event_id().as_bytes())
            .bind(node),
        )
        .await?;
    Ok(found.is_some())
}

/// Deletes callbacks that are in this state and claimed by that node. Returns the deleted ones.
async fn take(
    tx: &mut Tx,
    callbacks: &[&Callback],
    state: &str,
    node: i64,
) -> Result<HashSet<EventId>> {
    let taken = tx.changed_each(by_whole_keys("delete from outbox
         where bucket = $1 and state = $2 and account_id = $3 and sandbox = $4 and destination = $5 and due_at_ms = $6 and event_id = $7
             and claimed_by = $8", "delete from outbox
         where ", &["bucket", "state", "account_id", "sandbox", "destination", "due_at_ms", "event_id", "claimed_by"], "
         returning event_id").rows(callbacks, |callback| [value(callback.bucket.0), value(state), value(callback.account.0), value(callback.is_sandbox()), value(&callback.origin), value(callback.due_at_ms), value(callback.event_id().as_bytes().to_vec()), value(node)]), callbacks.iter().map(|callback| { (callback.event_id().as_bytes().to_vec(),) })).await?;
    let taken = callbacks
        .iter()
        .zip(taken)
        .filter(|(_, is_taken)| *is_taken);
    Ok(taken.map(|(callback, _)| callback.event_id()).collect())
}

struct CallbackRow {
    bucket: i16,
    account_id: i64,
    sandbox: bool,
    destination: String,
    due_at_ms: i64,
    kind: String,
    subject: Vec<u8>,
    recipient: i64,
    payload: String,
    attempts: i64,
    callback_url: Option<String>,
    customer_reference: Option<String>,
}

database::from_row!(CallbackRow {
    bucket,
    account_id,
    sandbox,
    destination,
    due_at_ms,
    kind,
    subject,
    recipient,
    payload,
    attempts,
    callback_url,
    customer_reference
});

impl CallbackRow {
    fn callback(self) -> Result<Callback> {
        let EventKind::DeliveryStatus = named(EventKind::from_name, &self.kind)?;
        Ok(Callback {
            bucket: Bucket(self.bucket.into()),
            account: AccountId(self.account_id),
            environment: environment(self.sandbox),
            origin: self.destination,
            due_at_ms: self.due_at_ms,
            message: message_id(&self.subject)?,
            recipient: recipient(self.recipient),
            status: named(DeliveryStatus::from_name, &self.payload)?,
            attempts: self.attempts,
            url: self.callback_url.unwrap_or_default().into(),
            customer_reference: self.customer_reference.map(Into::into),
        })
    }
}

struct ClaimCallbacks {
    of: OriginKey,
    now_ms: i64,
    limit: i64,
    node: i64,
    until_ms: i64,
}

impl Change for ClaimCallbacks {
    type Output = Vec<Callback>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<Callback>> {
        let (bucket, account, world, origin) = &self.of;
        let sql = locking!(
            "select o.bucket, o.account_id, o.sandbox, o.destination, o.due_at_ms, o.kind, o.subject, o.recipient,
                 o.payload, o.attempts, m.callback_url, m.customer_reference
             from outbox o join messages m on m.bucket = o.bucket and m.message_id = o.subject
             where o.bucket = $1 and o.state = $2 and o.account_id = $3 and o.sandbox = $4
                 and o.destination = $5 and o.due_at_ms <= $6
             order by o.due_at_ms, o.event_id limit $7";
            "for update of o skip locked"
        );
        let rows: Vec<CallbackRow> = tx
            .fetch_all(
                query(sql)
                    .bind(bucket.0)
                    .bind(DUE)
                    .bind(account.0)
                    .bind(*world == Environment::Sandbox)
                    .bind(origin)
                    .bind(self.now_ms)
                    .bind(self.limit),
            )
            .await?;
        let callbacks: Vec<Callback> = rows
            .into_iter()
            .map(CallbackRow::callback)
            .collect::<Result<_>>()?;
        let all: Vec<&Callback> = callbacks.iter().collect();
        take(tx, &all, DUE, WAITING).await?;
        insert_as(tx, &all, CLAIMED, (self.node, self.until_ms)).await?;
        Ok(callbacks)
    }

    async fn is_committed(&self, tx: &mut Tx, callbacks: &Vec<Callback>) -> Result<bool> {
        are_claimed(tx, callbacks, self.node).await
    }
}

struct FreeCallbacks {
    bucket: Bucket,
    now_ms: i64,
}

impl Change for FreeCallbacks {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        tx.execute(
            query(
                "update outbox set state = $1, claimed_by = 0, claimed_until_ms = 0
             where bucket = $2 and state = $3
                 and (claimed_by not in (select n.node from nodes n) or claimed_until_ms < $4)",
            )
            .bind(DUE)
            .bind(self.bucket.0)
            .bind(CLAIMED)
            .bind(self.now_ms),
        )
        .await
    }
}

impl Store {
    /// Claims due callbacks of one origin.
    pub async fn claim_callbacks(
        &self,
        of: OriginKey,
        now_ms: i64,
        limit: usize,
        node: i64,
        until_ms: i64,
    ) -> Result<Vec<Callback>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.db
            .change(ClaimCallbacks {
                of,
                now_ms,
                limit,
                node,
                until_ms,
            })
            .await
    }

    /// Releases callbacks of a bucket whose claim has ended. Returns their number.
    pub async fn free_callbacks(&self, bucket: Bucket, now_ms: i64) -> Result<u64> {
        self.db.change(FreeCallbacks { bucket, now_ms }).await
    }

    /// Returns the number of callbacks of a bucket by state.
    pub async fn callback_counts(&self, bucket: Bucket) -> Result<Vec<(String, i64)>> {
        let rows: Vec<(String, i64)> = self
            .db
            .fetch_all(
                query("select state, count(*) from outbox where bucket = $1 group by state")
                    .bind(bucket.0),
            )
            .await?;
        Ok(rows)
    }
}
