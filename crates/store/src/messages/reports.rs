//! Delivery reports: a slice of a message's recipients, joined with their deliveries.

use crate::buckets::Buckets;
use crate::rows::{id_bytes, named, number, recipient};
use database::{Db, Result, Tx, bulk, query, value};
use domain::{
    AccountId, Bucket, DeliveryStatus, Environment, MessageId, Recipient, recipient_list,
};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Messages whose counts are cached.
const MAX_REMEMBERED: usize = 4_096;

/// The number of recipients of a message by outcome.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct StatusCounts {
    /// All recipients.
    pub total: u64,
    /// Delivered recipients.
    pub delivered: u64,
    /// Failed recipients.
    pub failed: u64,
    /// Recipients that were handed to a carrier.
    pub handed_over: u64,
    /// Cancelled recipients, which also count as failed.
    pub cancelled: u64,
}

impl StatusCounts {
    fn of(recipients: &[Recipient], statuses: &HashMap<Recipient, DeliveryStatus>) -> Self {
        let mut counts = Self {
            total: recipients.len() as u64,
            ..Self::default()
        };
        for status in recipients.iter().filter_map(|to| statuses.get(to)) {
            counts.handed_over += u64::from(*status != DeliveryStatus::Cancelled);
            match status {
                DeliveryStatus::Delivered => counts.delivered += 1,
                DeliveryStatus::Cancelled => {
                    counts.cancelled += 1;
                    counts.failed += 1;
                }
                ended if ended.is_final() => counts.failed += 1,
                _ => {}
            }
        }
        counts
    }
}

/// A page of a message's report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MessageReport {
    /// The caller's own reference.
    pub customer_reference: Option<String>,
    /// Time from which the message may be sent, Unix milliseconds; `None` if it was due at once.
    pub due_at_ms: Option<i64>,
    /// `true` if the message is paused.
    pub is_paused: bool,
    /// The length of earlier pauses, by which a resume moved the due time.
    pub paused_for_ms: i64,
    /// All recipients, counted by outcome.
    pub counts: StatusCounts,
    /// The requested recipients. The status is `None` for one that was not submitted yet.
    pub recipients: Vec<(Recipient, Option<DeliveryStatus>)>,
}

/// A cache of the counts of messages that do not change any more. A long report that is read page
/// by page is counted once.
#[derive(Debug)]
pub(crate) struct Counted<C>(Mutex<HashMap<MessageId, C>>);

impl<C> Default for Counted<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: Copy> Counted<C> {
    pub(crate) fn get(&self, message: MessageId) -> Option<C> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&message).copied()
    }

    pub(crate) fn keep(&self, message: MessageId, counts: C) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(message, counts);
    }
}

/// Returns the recipients `from..until` of a message in the order of the request. It returns
/// `None` if the account has no such message in that environment, or if its removal has begun:
/// that empties the list.
pub(super) async fn read(
    db: &Db,
    cache: &Counted<StatusCounts>,
    account: AccountId,
    environment: Environment,
    message: MessageId,
    (from, until): (usize, usize),
) -> Result<Option<MessageReport>> {
    Db::in_time(async {
        let mut tx = db.read().await?;
        let of = (Buckets::of(db).account(account), message);
        let Some(row) = list(&mut tx, of, account, environment).await? else {
            return Ok(None);
        };
        let total = recipient_list::count(&row.recipients);
        let wanted = recipient_list::unpack(recipient_list::slice(&row.recipients, from, until));
        // Outcomes arrive meanwhile. A report of all recipients is counted as it is read.
        // Otherwise the counts come first, so that no recipient is counted as ended and shown
        // as pending.
        let counted = if wanted.len() == total {
            None
        } else {
            Some(counts(cache, &mut tx, of, total as u64).await?)
        };
        let found = statuses(&mut tx, of, &wanted).await?;
        let status = |recipient| (recipient, found.get(&recipient).copied());
        Ok(Some(MessageReport {
            customer_reference: row.customer_reference,
            due_at_ms: row.due_at_ms,
            is_paused: row.paused_at_ms.is_some(),
            paused_for_ms: row.paused_for_ms.unwrap_or_default(),
            counts: counted.unwrap_or_else(|| StatusCounts::of(&wanted, &found)),
            recipients: wanted.into_iter().map(status).collect(),
        }))
    })
    .await
}

/// Counts all recipients of a message by outcome. It scans all deliveries of the message. A
/// grouped query would have to sort them too.
async fn counts(
    cache: &Counted<StatusCounts>,
    tx: &mut Tx,
    (bucket, message): (Bucket, MessageId),
    total: u64,
) -> Result<StatusCounts> {
    if let Some(counts) = cache.get(message) {
        return Ok(counts);
    }
    let (delivered, ended, gave_up, known, cancelled): (i64, i64, i64, i64, i64) = tx
        .fetch_one(
            query(
                "select count(case status when $3 then 1 end),
             count(case when status not in ('sent', 'in_doubt') then 1 end),
             count(case when gave_up then 1 end), count(*),
             count(case status when 'cancelled' then 1 end)
         from deliveries where bucket = $1 and message_id = $2",
            )
            .bind(bucket.0)
            .bind(id_bytes(&message))
            .bind(DeliveryStatus::Delivered.as_str()),
        )
        .await?;
    let counts = StatusCounts {
        total,
        delivered: delivered.unsigned_abs(),
        failed: (ended - delivered).unsigned_abs(),
        handed_over: (known - cancelled).unsigned_abs(),
        cancelled: cancelled.unsigned_abs(),
    };
    // An expired recipient may still be corrected by a late receipt. Any other end is final.
    if ended.unsigned_abs() == total && gave_up == 0 {
        cache.keep(message, counts);
    }
    Ok(counts)
}

struct ListRow {
    customer_reference: Option<String>,
    due_at_ms: Option<i64>,
    paused_at_ms: Option<i64>,
    paused_for_ms: Option<i64>,
    recipients: Vec<u8>,
}

database::from_row!(ListRow {
    customer_reference,
    due_at_ms,
    paused_at_ms,
    paused_for_ms,
    recipients
});

/// Returns the account's message with its packed list of recipients, while it has a list.
async fn list(
    tx: &mut Tx,
    (bucket, message): (Bucket, MessageId),
    account: AccountId,
    environment: Environment,
) -> Result<Option<ListRow>> {
    tx.fetch_optional(
        query(
            "select customer_reference, due_at_ms, paused_at_ms, paused_for_ms, recipients
         from messages
         where bucket = $1 and message_id = $2 and account_id = $3 and sandbox = $4
             and length(recipients) > 0",
        )
        .bind(bucket.0)
        .bind(id_bytes(&message))
        .bind(account.0)
        .bind(environment == Environment::Sandbox),
    )
    .await
}

/// Returns the status of these recipients of a message, as far as they were submitted.
///
/// Each is looked up by its whole key, and the query allows no other plan. Otherwise the server
/// assumes short messages as soon as most are short. It then scans all deliveries of a message, and
/// compares each with each requested one.
async fn statuses(
    tx: &mut Tx,
    (bucket, message): (Bucket, MessageId),
    recipients: &[Recipient],
) -> Result<HashMap<Recipient, DeliveryStatus>> {
    let rows: Vec<(i64, Option<String>)> = tx
        .fetch_each(
            bulk(
                "with v (recipient) as (values ($1))
         select v.recipient, (select status from deliveries d
             where d.bucket = $2 and d.message_id = $3 and d.recipient = v.recipient)
         from v",
                "with v (recipient) as (select * from unnest($1::bigint[]))
         select v.recipient, (select status from deliveries d
             where d.bucket = $2 and d.message_id = $3 and d.recipient = v.recipient)
         from v",
            )
            .rows(recipients, |recipient| [value(number(*recipient))])
            .bind(bucket.0)
            .bind(id_bytes(&message)),
        )
        .await?;
    rows.into_iter()
        .filter_map(|(digits, status)| Some((recipient(digits), status?)))
        .map(|(to, status)| Ok((to, named(DeliveryStatus::from_name, &status)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_few_messages_are_remembered() {
        let counted: Counted<StatusCounts> = Counted::default();
        let counts = StatusCounts {
            total: 2,
            delivered: 1,
            failed: 1,
            handed_over: 2,
            cancelled: 0,
        };
        let id = |now_ms| MessageId::new(now_ms, [0; 10]);
        for now_ms in 0..10_000 {
            counted.keep(id(now_ms), counts);
            let held = counted.0.lock().map_or(0, |known| known.len());
            assert!(held <= MAX_REMEMBERED);
            assert_eq!(counted.get(id(now_ms)), Some(counts));
        }
        assert_eq!(counted.get(id(10_000)), None);
    }
}
