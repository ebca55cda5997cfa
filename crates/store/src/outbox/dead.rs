//! Dead callbacks: they are kept, listed, and replayed when an operator asks for it.

use super::event::{self, Callback, DEAD, DUE};
use super::row::CallbackRow;
use crate::buckets::Buckets;
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::ListRow;
use crate::operators::audit::{self, By, Entry};
use crate::rows::{self, environment, id_bytes, number};
use database::{Change, Db, Result, Tx, query};
use domain::{AccountId, Bucket, Environment, EventId, MessageId, Refusal};
use serde_json::json;
use uuid::Uuid;

/// Callbacks that one transaction makes due at most.
const STEP: i64 = 500;

/// The dead callbacks to one origin of one account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeadOrigin {
    /// The bucket of the account's rows.
    pub bucket: Bucket,
    /// The account.
    pub account: AccountId,
    /// The environment of their messages: live or sandbox.
    pub environment: Environment,
    /// Scheme, host and port of their URLs.
    pub origin: String,
    /// The number of callbacks.
    pub callbacks: i64,
    /// The due time of the oldest one, Unix milliseconds.
    pub oldest_ms: i64,
}

/// The key of a receiver with dead callbacks: account, whether it is the sandbox, and origin.
pub type DeadOriginKey = (i64, bool, String);

impl ListRow for DeadOrigin {
    type Key = DeadOriginKey;

    fn key(&self) -> DeadOriginKey {
        let is_sandbox = self.environment == Environment::Sandbox;
        (self.account.0, is_sandbox, self.origin.clone())
    }
}

impl ListRow for Callback {
    /// Due time, message and recipient.
    type Key = (i64, u128, i64);

    fn key(&self) -> Self::Key {
        let message = self.message.0.as_u128();
        (self.due_at_ms, message, number(self.recipient))
    }
}

struct Replay {
    bucket: Bucket,
    account: AccountId,
    environment: Environment,
    origin: String,
    /// The lowest and the highest message of the selection.
    messages: [Vec<u8>; 2],
    by: By,
}

impl Change for Replay {
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        let [first, last] = &self.messages;
        let replayed = tx
            .execute(
                query(
                    "update outbox set state = $1, due_at_ms = $2, attempts = 0
             where bucket = $3 and state = $4 and account_id = $5 and sandbox = $10
                 and destination = $6
                 and (due_at_ms, event_id) in (
                     select due_at_ms, event_id from outbox
                     where bucket = $3 and state = $4 and account_id = $5 and sandbox = $10
                         and destination = $6
                         and subject >= $7 and subject <= $8
                         and (kind = 'low_balance'
                             or exists (select 1 from messages m
                                      where m.bucket = outbox.bucket
                                          and m.message_id = outbox.subject)
                             or exists (select 1 from inbound_messages i
                                        where i.inbound_id = outbox.subject))
                     order by due_at_ms limit $9)",
                )
                .bind(DUE)
                .bind(self.by.at_ms)
                .bind(self.bucket.0)
                .bind(DEAD)
                .bind(self.account.0)
                .bind(&self.origin)
                .bind(first)
                .bind(last)
                .bind(STEP)
                .bind(self.environment == Environment::Sandbox),
            )
            .await?;
        if replayed > 0 {
            let entry = Entry {
                by: &self.by,
                verb: "callback.replay",
                account: Some(self.account),
                object: &self.origin,
                before: json!({ "dead": replayed }),
                after: json!({ "dead": 0 }),
            };
            audit::enter(tx, entry).await?;
        }
        Ok(replayed)
    }
}

/// The end of a replay, which keeps its answer.
struct Replayed(u64);

impl Change for Replayed {
    type Output = std::result::Result<u64, Refusal>;

    async fn apply(&self, _: &mut Tx) -> Result<Self::Output> {
        Ok(Ok(self.0))
    }
}

/// The dead callbacks.
#[derive(Clone, Copy)]
pub struct DeadCallbacks<'s> {
    pub(crate) db: &'s Db,
}

impl DeadCallbacks<'_> {
    /// Returns some receivers of dead callbacks behind one, each once, bucket by bucket.
    pub async fn origins(
        self,
        behind: Option<DeadOriginKey>,
        limit: u32,
    ) -> Result<Vec<DeadOrigin>> {
        let first = behind
            .as_ref()
            .map(|key| Buckets::of(self.db).account(AccountId(key.0)));
        let buckets = Buckets::of(self.db).all();
        let mut found: Vec<DeadOrigin> = Vec::new();
        for bucket in buckets.filter(|&bucket| first.is_none_or(|first| first <= bucket)) {
            let left = i64::from(limit) - i64::try_from(found.len()).unwrap_or(i64::MAX);
            if left <= 0 {
                break;
            }
            let behind = behind.clone().filter(|_| first == Some(bucket));
            let behind = behind.unwrap_or((i64::MIN, false, String::new()));
            let rows: Vec<(i64, bool, String, i64, i64)> = self
                .db
                .fetch_all(
                    query(
                        "select account_id, sandbox, destination, count(*), min(due_at_ms)
                     from outbox
                     where bucket = $1 and state = $2
                         and (account_id, sandbox, destination) > ($3, $4, $5)
                     group by account_id, sandbox, destination
                     order by account_id, sandbox, destination limit $6",
                    )
                    .bind(bucket.0)
                    .bind(DEAD)
                    .bind(behind.0)
                    .bind(behind.1)
                    .bind(&behind.2)
                    .bind(left),
                )
                .await?;
            let origins = rows.into_iter();
            found.extend(
                origins.map(
                    |(account, sandbox, origin, callbacks, oldest_ms)| DeadOrigin {
                        bucket,
                        account: AccountId(account),
                        environment: environment(sandbox),
                        origin,
                        callbacks,
                        oldest_ms,
                    },
                ),
            );
        }
        Ok(found)
    }

    /// Returns some dead callbacks of an account behind one, the latest first.
    pub async fn list(
        self,
        account: AccountId,
        behind: Option<(i64, u128, i64)>,
        limit: u32,
    ) -> Result<Vec<Callback>> {
        let (due_at_ms, event) = match behind {
            Some((due_at_ms, message, recipient)) => {
                let message = MessageId(Uuid::from_u128(message));
                let event = EventId::of_delivery(message, rows::recipient(recipient));
                (due_at_ms, event.as_bytes().to_vec())
            }
            None => (i64::MAX, Vec::new()),
        };
        let bucket = Buckets::of(self.db).account(account);
        // The state stands in the text, so that the index of dead callbacks is used.
        let list = query(
            "select o.bucket, o.account_id, o.sandbox, o.destination, o.due_at_ms, o.kind,
                 o.subject, o.recipient, o.payload, o.attempts, m.callback_url,
                 coalesce(r.customer_reference, m.customer_reference) as customer_reference,
                 case when o.kind = 'receipt' then m.sender end as sender,
                 case when o.kind = 'receipt' then substr(m.body, 1, 20) end as quoted
             from outbox o
             left join messages m on m.bucket = o.bucket and m.message_id = o.subject
             left join inbound_messages i on i.inbound_id = o.subject
             left join recipient_references r on r.bucket = o.bucket and r.message_id = o.subject
                 and r.recipient = o.recipient
             where o.bucket = $1 and o.state = 'dead' and o.account_id = $2
                 and (o.due_at_ms, o.event_id) < ($3, $4)
                 and (m.message_id is not null or i.inbound_id is not null
                     or o.kind = 'low_balance')
             order by o.due_at_ms desc, o.event_id desc limit $5",
        );
        let list = list.bind(bucket.0).bind(account.0).bind(due_at_ms);
        let list = list.bind(&event).bind(i64::from(limit));
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let rows: Vec<CallbackRow> = tx.fetch_all(list).await?;
            let mut callbacks = Vec::with_capacity(rows.len());
            for row in rows {
                callbacks.extend(row.callback(&mut tx).await?);
            }
            Ok(callbacks)
        })
        .await
    }

    /// Replays the dead callbacks to an origin, or to one message, as if none had been tried.
    /// Returns their number. After an error, the callbacks replayed so far stay due.
    pub async fn replay(self, of: &DeadOrigin, message: Option<MessageId>, by: By) -> Result<u64> {
        let messages = event::messages(message);
        let mut replayed = 0;
        loop {
            let step = Replay {
                bucket: of.bucket,
                account: of.account,
                environment: of.environment,
                origin: of.origin.clone(),
                messages: messages.clone(),
                by: by.clone(),
            };
            let changed = self.db.change(step).await?;
            replayed += changed;
            if changed < STEP.unsigned_abs() {
                return Ok(replayed);
            }
        }
    }

    /// Returns some receivers of dead callbacks of an account behind one, by environment and
    /// origin.
    pub async fn origins_of(
        self,
        account: AccountId,
        behind: Option<&DeadOrigin>,
        limit: u32,
    ) -> Result<Vec<DeadOrigin>> {
        let bucket = Buckets::of(self.db).account(account);
        let behind = behind.map_or((false, ""), |dead| {
            let is_sandbox = dead.environment == Environment::Sandbox;
            (is_sandbox, dead.origin.as_str())
        });
        let rows: Vec<(bool, String, i64, i64)> = self
            .db
            .fetch_all(
                query(
                    "select sandbox, destination, count(*), min(due_at_ms) from outbox
                     where bucket = $1 and state = $2 and account_id = $3
                         and (sandbox, destination) > ($4, $5)
                     group by sandbox, destination order by sandbox, destination limit $6",
                )
                .bind(bucket.0)
                .bind(DEAD)
                .bind(account.0)
                .bind(behind.0)
                .bind(behind.1)
                .bind(i64::from(limit)),
            )
            .await?;
        let origins = rows.into_iter();
        let origins = origins.map(|(sandbox, origin, callbacks, oldest_ms)| DeadOrigin {
            bucket,
            account,
            environment: environment(sandbox),
            origin,
            callbacks,
            oldest_ms,
        });
        Ok(origins.collect())
    }

    /// Returns `true` if a message, an inbound message or a dead alert of the account has this id.
    pub async fn knows(self, account: AccountId, message: MessageId) -> Result<bool> {
        let found: Option<i64> = self
            .db
            .fetch_optional(
                query(
                    "select account_id from messages
                     where bucket = $1 and message_id = $2 and account_id = $3
                     union all
                     select account_id from inbound_messages
                     where inbound_id = $2 and account_id = $3
                     union all
                     select account_id from outbox
                     where bucket = $1 and state = 'dead' and account_id = $3 and subject = $2
                         and kind = 'low_balance'
                     limit 1",
                )
                .bind(Buckets::of(self.db).account(account).0)
                .bind(id_bytes(&message))
                .bind(account.0),
            )
            .await?;
        Ok(found.is_some())
    }

    /// Keeps the answer to a replay. Another replay may have been kept under the same key.
    pub async fn keep_replay(
        self,
        account: AccountId,
        replayed: u64,
        keyed: Option<KeyedChange<u64>>,
        now_ms: i64,
    ) -> Result<Outcome<u64>> {
        let change = Replayed(replayed);
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }
}
