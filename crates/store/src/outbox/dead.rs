//! Dead callbacks: they are kept, listed, and replayed when an operator asks for it.

use super::{Callback, CallbackRow, DEAD, DUE};
use crate::Store;
use crate::operators::audit::{self, By, Entry};
use crate::rows::environment;
use database::{Change, Result, Tx, query};
use domain::{AccountId, Bucket, Environment, MessageId};
use serde_json::json;

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
        let replayed = tx.execute(query("update outbox set state = $1, due_at_ms = $2, attempts = 0
             where bucket = $3 and state = $4 and account_id = $5 and sandbox = $10 and destination = $6
                 and (due_at_ms, event_id) in (
                     select due_at_ms, event_id from outbox
                     where bucket = $3 and state = $4 and account_id = $5 and sandbox = $10 and destination = $6
                         and subject >= $7 and subject <= $8
                         and exists (select 1 from messages m
                                     where m.bucket = outbox.bucket and m.message_id = outbox.subject)
                     order by due_at_ms limit $9)")
        .bind(DUE)
        .bind(self.by.at_ms)
        .bind(self.bucket.0)
        .bind(DEAD)
        .bind(self.account.0)
        .bind(&self.origin)
        .bind(first)
        .bind(last)
        .bind(STEP)
        .bind(self.environment == Environment::Sandbox)).await?;
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

impl Store {
    /// Returns the account and origin of all dead callbacks, each once.
    pub async fn dead_origins(&self) -> Result<Vec<DeadOrigin>> {
        let mut all = Vec::new();
        for bucket in self.buckets() {
            let rows: Vec<(i64, bool, String, i64, i64)> = self.db.fetch_all(query("select account_id, sandbox, destination, count(*), min(due_at_ms) from outbox
                     where bucket = $1 and state = $2
                     group by account_id, sandbox, destination order by account_id, sandbox, destination")
                .bind(bucket.0)
                .bind(DEAD)).await?;
            let origins = rows.into_iter();
            all.extend(
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
        Ok(all)
    }

    /// Returns the dead callbacks of an account, the latest first.
    pub async fn dead_callbacks(&self, account: AccountId, limit: u32) -> Result<Vec<Callback>> {
        let rows: Vec<CallbackRow> = self.db.fetch_all(query("select o.bucket, o.account_id, o.sandbox, o.destination, o.due_at_ms, o.kind, o.subject, o.recipient,
                     o.payload, o.attempts, m.callback_url, m.customer_reference
                 from outbox o join messages m on m.bucket = o.bucket and m.message_id = o.subject
                 where o.bucket = $1 and o.state = $2 and o.account_id = $3
                 order by o.due_at_ms desc, o.event_id limit $4")
            .bind(self.bucket_of(account).0)
            .bind(DEAD)
            .bind(account.0)
            .bind(i64::from(limit))).await?;
        rows.into_iter().map(CallbackRow::callback).collect()
    }

    /// Replays the dead callbacks to an origin, or to one message, as if none had been tried.
    /// Returns their number. After an error, the callbacks replayed so far stay due.
    pub async fn replay_callbacks(
        &self,
        of: &DeadOrigin,
        message: Option<MessageId>,
        by: By,
    ) -> Result<u64> {
        let messages = super::messages(message);
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
}
