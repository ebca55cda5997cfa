//! The request of a pause or a cancel.

use super::facts::{self, ChangedMessage, Facts, MessageKey};
use super::stops::{self, Stop};
use crate::operators::audit::{self, By, Entry};
use crate::rows::id_bytes;
use database::{Change, Result, Tx, query};
use domain::schedule::{self, Effect};
use domain::{Bucket, Environment, Refusal};
use serde_json::{Value, json};

/// The purpose of a stop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StopKind {
    /// Unsent recipients wait for a resume.
    Pause,
    /// Unsent recipients end.
    Cancel,
}

impl StopKind {
    fn change(self) -> schedule::Change {
        match self {
            Self::Pause => schedule::Change::Pause,
            Self::Cancel => schedule::Change::Cancel,
        }
    }
}

/// The result of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Requested {
    /// The change has no effect. This is the message.
    Nothing(ChangedMessage),
    /// The message is stopped now.
    Stopping(Stop),
}

pub(super) struct RequestStop {
    pub(super) bucket: Bucket,
    pub(super) key: MessageKey,
    pub(super) kind: StopKind,
    pub(super) now_ms: i64,
    pub(super) by: Option<By>,
}

impl Change for RequestStop {
    type Output = Option<std::result::Result<Requested, Refusal>>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        if !belongs(tx, self.bucket, self.key).await? {
            return Ok(None);
        }
        let Some(facts) = facts::lock(tx, self.bucket, self.key.message).await? else {
            return Ok(None);
        };
        let changed = facts.changed(tx, self.bucket).await?;
        let present = stops::lock(tx, self.bucket, self.key.message).await?;
        // A cancel may have been requested before, and not be finished.
        if let (Some(stop), StopKind::Cancel) = (present, self.kind)
            && stop.cancels
        {
            return Ok(Some(Ok(Requested::Stopping(stop))));
        }
        match schedule::change(&changed.progress, self.kind.change(), self.now_ms) {
            Ok(Effect::Applies) => {
                let stop = self.stop(tx, &facts).await?;
                Ok(Some(Ok(Requested::Stopping(stop))))
            }
            Ok(Effect::Nothing) => Ok(Some(Ok(Requested::Nothing(changed)))),
            Err(refusal) => Ok(Some(Err(refusal))),
        }
    }
}

impl RequestStop {
    async fn stop(&self, tx: &mut Tx, facts: &Facts) -> Result<Stop> {
        // A cancel stops the message as a pause does, until it is finished.
        let paused_at_ms = facts.clock.paused_at_ms.unwrap_or(self.now_ms);
        let changes = match self.kind {
            StopKind::Pause => Some(facts.with_change("paused", self.now_ms)),
            StopKind::Cancel => facts.changes.clone(),
        };
        tx.execute(
            query(
                "update messages set paused_at_ms = $3, changes = $4
                 where bucket = $1 and message_id = $2",
            )
            .bind(self.bucket.0)
            .bind(id_bytes(&self.key.message))
            .bind(paused_at_ms)
            .bind(changes),
        )
        .await?;
        let stop = Stop {
            bucket: self.bucket,
            message: self.key.message,
            cancels: self.kind == StopKind::Cancel,
            requested_at_ms: self.now_ms,
        };
        stops::insert(tx, &stop).await?;
        if let Some(by) = &self.by {
            let object = self.key.message.to_string();
            let before = json!({ "paused": facts.clock.paused_at_ms.is_some() });
            let (verb, after) = match self.kind {
                StopKind::Pause => ("message.pause", json!({ "paused": true })),
                StopKind::Cancel => ("message.cancel", json!({ "cancelled": true })),
            };
            let entry = entry(by, verb, self.key, &object, (before, after));
            audit::enter(tx, entry).await?;
        }
        Ok(stop)
    }
}

/// Returns `true` if the account has the message in the environment.
pub(super) async fn belongs(tx: &mut Tx, bucket: Bucket, key: MessageKey) -> Result<bool> {
    let found: Option<i32> = tx
        .fetch_optional(
            query(
                "select 1 from messages where bucket = $1 and message_id = $2 and account_id = $3
                     and sandbox = $4",
            )
            .bind(bucket.0)
            .bind(id_bytes(&key.message))
            .bind(key.account.0)
            .bind(key.environment == Environment::Sandbox),
        )
        .await?;
    Ok(found.is_some())
}

/// Returns the audit entry of a change by an operator.
pub(super) fn entry<'e>(
    by: &'e By,
    verb: &'static str,
    key: MessageKey,
    object: &'e str,
    (before, after): (Value, Value),
) -> Entry<'e> {
    Entry {
        by,
        verb,
        account: Some(key.account),
        object,
        before,
        after,
    }
}
