//! The facts on which changes of a message depend.

use crate::buckets::Buckets;
use crate::rows::{due_at_ms, id_bytes};
use database::{Db, Result, Sql, Tx, query};
use domain::schedule::{Clock, Progress};
use domain::{AccountId, Bucket, Environment, MessageId, Money, recipient_list};

/// The changes of a message that are kept at most. The oldest ones are dropped.
const MAX_CHANGES: usize = 64;

/// A message of an account in an environment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MessageKey {
    /// The account.
    pub account: AccountId,
    /// The environment.
    pub environment: Environment,
    /// The message.
    pub message: MessageId,
}

/// A message after a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChangedMessage {
    /// Its progress.
    pub progress: Progress,
    /// The charges of its cancelled recipients.
    pub refunded: Money,
}

/// The columns of a message that its changes read and write.
pub(super) struct Facts {
    pub(super) message: MessageId,
    pub(super) clock: Clock,
    pub(super) paused_for_ms: i64,
    pub(super) was_cancelled: bool,
    pub(super) recipients: i64,
    pub(super) changes: Option<String>,
}

struct FactsRow {
    due_at_ms: Option<i64>,
    paused_at_ms: Option<i64>,
    paused_for_ms: Option<i64>,
    cancelled_at_ms: Option<i64>,
    octets: i64,
    changes: Option<String>,
}

database::from_row!(FactsRow {
    due_at_ms,
    paused_at_ms,
    paused_for_ms,
    cancelled_at_ms,
    octets,
    changes
});

/// Reads the facts of a message and locks it. Returns `None` if there is no such message, or if its
/// removal has begun.
pub(super) async fn lock(tx: &mut Tx, bucket: Bucket, message: MessageId) -> Result<Option<Facts>> {
    let find = Sql {
        sqlite: "select due_at_ms, paused_at_ms, paused_for_ms, cancelled_at_ms,
             cast(length(recipients) as bigint) as octets, changes from messages
         where bucket = $1 and message_id = $2 and length(recipients) > 0",
        postgres: "select due_at_ms, paused_at_ms, paused_for_ms, cancelled_at_ms,
             cast(length(recipients) as bigint) as octets, changes from messages
         where bucket = $1 and message_id = $2 and length(recipients) > 0 for update",
    };
    let row: Option<FactsRow> = tx
        .fetch_optional(query(find).bind(bucket.0).bind(id_bytes(&message)))
        .await?;
    Ok(row.map(|row| row.facts(message)))
}

impl FactsRow {
    fn facts(self, message: MessageId) -> Facts {
        Facts {
            message,
            clock: Clock {
                due_at_ms: due_at_ms(message, self.due_at_ms),
                paused_at_ms: self.paused_at_ms,
            },
            paused_for_ms: self.paused_for_ms.unwrap_or_default(),
            was_cancelled: self.cancelled_at_ms.is_some(),
            recipients: self.octets / i64::try_from(recipient_list::WIDTH).unwrap_or(1),
            changes: self.changes,
        }
    }
}

impl Facts {
    /// Returns the message with the counts of its recipients.
    pub(super) async fn changed(&self, tx: &mut Tx, bucket: Bucket) -> Result<ChangedMessage> {
        let (known, open, cancelled, refunded): (i64, i64, i64, i64) = tx
            .fetch_one(
                query(
                    "select count(*), count(case when status in ('sent', 'in_doubt') then 1 end),
                         count(case status when 'cancelled' then 1 end),
                         cast(coalesce(sum(case status when 'cancelled' then charge end), 0)
                             as bigint)
                     from deliveries where bucket = $1 and message_id = $2",
                )
                .bind(bucket.0)
                .bind(id_bytes(&self.message)),
            )
            .await?;
        Ok(ChangedMessage {
            progress: Progress {
                recipients: self.recipients,
                handed_over: known - cancelled,
                ended: known - open,
                cancelled,
                due_at_ms: self.clock.due_at_ms,
                is_paused: self.clock.paused_at_ms.is_some(),
                was_cancelled: self.was_cancelled,
            },
            refunded: Money::from_units(refunded),
        })
    }

    /// Returns the list of changes with another one.
    pub(super) fn with_change(&self, change: &str, at_ms: i64) -> String {
        let earlier = self.changes.as_deref().unwrap_or_default();
        let mut all: Vec<&str> = earlier.split(',').filter(|one| !one.is_empty()).collect();
        let last = format!("{change} {at_ms}");
        all.push(&last);
        let surplus = all.len().saturating_sub(MAX_CHANGES);
        all.split_off(surplus).join(",")
    }
}

/// Returns a message of an account in an environment, with the counts of its recipients.
pub(super) async fn changed(db: &Db, key: MessageKey) -> Result<Option<ChangedMessage>> {
    Db::in_time(async {
        let mut tx = db.read().await?;
        let bucket = Buckets::of(db).account(key.account);
        let row: Option<FactsRow> = tx
            .fetch_optional(
                query(
                    "select due_at_ms, paused_at_ms, paused_for_ms, cancelled_at_ms,
                         cast(length(recipients) as bigint) as octets, changes from messages
                     where bucket = $1 and message_id = $2 and account_id = $3 and sandbox = $4
                         and length(recipients) > 0",
                )
                .bind(bucket.0)
                .bind(id_bytes(&key.message))
                .bind(key.account.0)
                .bind(key.environment == Environment::Sandbox),
            )
            .await?;
        match row {
            Some(row) => Ok(Some(row.facts(key.message).changed(&mut tx, bucket).await?)),
            None => Ok(None),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_changes_are_dropped() {
        let mut facts = Facts {
            message: MessageId::lowest_at(0),
            clock: Clock::new(0),
            paused_for_ms: 0,
            was_cancelled: false,
            recipients: 1,
            changes: None,
        };
        for at_ms in 0..100 {
            facts.changes = Some(facts.with_change("paused", at_ms));
        }
        let changes = facts.changes.unwrap();
        assert_eq!(changes.split(',').count(), MAX_CHANGES);
        assert!(changes.starts_with("paused 36,") && changes.ends_with("paused 99"));
    }
}
