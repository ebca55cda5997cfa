//! The removal of whole messages.

use crate::deliveries::raw_receipts;
use crate::messages::message_times;
use crate::messages::recipient_texts;
use crate::rows::{id_bytes, message_id};
use database::{Change, Result, Tx, bulk, query, value};
use domain::{Bucket, MessageId};
use std::collections::HashSet;

/// Messages read in one step at most.
pub(super) const MAX_MESSAGES: i64 = 250;

/// Deliveries, callback attempts and receipts, each removed in one transaction at most. A message
/// with more of them takes several.
const MAX_DELIVERIES: i64 = 500;

/// The result of a step.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Removed<C> {
    /// The number removed: messages, texts or rows.
    pub count: u64,
    /// The start of the next step. It is `None` at the end.
    pub next: Option<C>,
}

/// A message past its retention period.
pub(super) struct Old {
    pub(super) message: MessageId,
    /// An upper bound of its deliveries. It is 0 once its removal has begun.
    pub(super) recipients: i64,
}

/// Returns messages that were due before a time, in the order of acceptance.
pub(super) async fn old_messages(
    tx: &mut Tx,
    bucket: Bucket,
    after: MessageId,
    before_ms: i64,
) -> Result<Vec<Old>> {
    // A list has seven bytes a number, see `domain::recipient_list`.
    let rows: Vec<(Vec<u8>, i64)> = tx
        .fetch_all(
            query(
                "select message_id, cast(length(recipients) / 7 as bigint) from messages
         where bucket = $1 and message_id > $2 and message_id < $3
             and (due_at_ms is null or due_at_ms < $5)
         order by message_id limit $4",
            )
            .bind(bucket.0)
            .bind(id_bytes(&after))
            .bind(id_bytes(&MessageId::lowest_at(before_ms)))
            .bind(MAX_MESSAGES)
            .bind(before_ms),
        )
        .await?;
    rows.into_iter()
        .map(|(id, recipients)| {
            Ok(Old {
                message: message_id(&id)?,
                recipients,
            })
        })
        .collect()
}

/// Returns how many of these messages one transaction can remove: the ones whose deliveries
/// together are few enough, or the first alone.
pub(super) fn fitting(found: &[Old]) -> usize {
    let mut deliveries = 0;
    let fitting = found.iter().take_while(|old| {
        deliveries += if old.recipients == 0 {
            MAX_DELIVERIES
        } else {
            old.recipients
        };
        deliveries <= MAX_DELIVERIES
    });
    fitting.count().max(1).min(found.len())
}

/// Returns the messages that are not settled. The order of the queries matters: an open recipient
/// may end meanwhile and leave a callback.
pub(super) async fn open(
    tx: &mut Tx,
    bucket: Bucket,
    before_ms: i64,
    messages: &[MessageId],
) -> Result<HashSet<MessageId>> {
    if messages.is_empty() {
        return Ok(HashSet::new());
    }
    let mut open: Vec<(Vec<u8>,)> = tx
        .fetch_each(
            bulk(
                "select distinct message_id from deliveries
         where message_id = $1 and bucket = $2 and status in ('sent', 'in_doubt')",
                "select distinct message_id from deliveries
         where message_id in (select * from unnest($1::bytea[])) and bucket = $2
             and status in ('sent', 'in_doubt')",
            )
            .rows(messages, |message| [value(id_bytes(message))])
            .bind(bucket.0),
        )
        .await?;
    // Neither table has an index by message, but hardly any rows of such old messages are left.
    for sql in [
        "select distinct message_id from batches where bucket = $1 and message_id < $2",
        "select distinct subject from outbox
         where bucket = $1 and state in ('due', 'claimed') and subject < $2",
    ] {
        let left: Vec<(Vec<u8>,)> = tx
            .fetch_all(
                query(sql)
                    .bind(bucket.0)
                    .bind(id_bytes(&MessageId::lowest_at(before_ms))),
            )
            .await?;
        open.extend(left);
    }
    open.iter().map(|(id,)| message_id(id)).collect()
}

pub(super) struct RemoveMessages {
    pub(super) bucket: Bucket,
    pub(super) messages: Vec<MessageId>,
    /// `true` for the sandbox: waiting and dead callbacks are removed too.
    pub(super) with_callbacks: bool,
}

impl RemoveMessages {
    /// Removes the callbacks of messages of the sandbox.
    async fn remove_callbacks(&self, tx: &mut Tx) -> Result<()> {
        if self.with_callbacks
            && let (Some(first), Some(last)) = (self.messages.first(), self.messages.last())
        {
            // The delete uses the index of sandbox callbacks, along which the messages were found.
            tx.execute(
                query(
                    "delete from outbox
                 where bucket = $1 and sandbox and subject >= $2 and subject <= $3",
                )
                .bind(self.bucket.0)
                .bind(id_bytes(first))
                .bind(id_bytes(last)),
            )
            .await?;
        }
        Ok(())
    }

    /// Removes some deliveries, callback attempts and receipts.
    async fn remove_parts(&self, tx: &mut Tx) -> Result<()> {
        tx.execute_each(
            bulk(
                "delete from deliveries where (message_id, recipient) in (
                 select message_id, recipient from deliveries
                 where message_id = $1 and bucket = $2 limit $3) and bucket = $2",
                "delete from deliveries where (message_id, recipient) in (
                 select message_id, recipient from deliveries
                 where message_id in (select * from unnest($1::bytea[])) and bucket = $2
                     limit $3) and bucket = $2",
            )
            .rows(&self.messages, |message| [value(id_bytes(message))])
            .bind(self.bucket.0)
            .bind(MAX_DELIVERIES),
        )
        .await?;
        tx.execute_each(
            bulk(
                "delete from callback_attempts where (message_id, recipient, made_at_ms) in (
                 select message_id, recipient, made_at_ms from callback_attempts
                 where message_id = $1 and bucket = $2 limit $3) and bucket = $2",
                "delete from callback_attempts where (message_id, recipient,
                 made_at_ms) in (
                 select message_id, recipient, made_at_ms from callback_attempts
                 where message_id in (select * from unnest($1::bytea[])) and bucket = $2
                     limit $3) and bucket = $2",
            )
            .rows(&self.messages, |message| [value(id_bytes(message))])
            .bind(self.bucket.0)
            .bind(MAX_DELIVERIES),
        )
        .await?;
        raw_receipts::remove_of(tx, self.bucket, &self.messages, MAX_DELIVERIES).await?;
        recipient_texts::remove(tx, self.bucket, &self.messages).await?;
        recipient_texts::remove_references(tx, self.bucket, &self.messages).await?;
        Ok(())
    }
}

impl Change for RemoveMessages {
    /// The number of removed messages.
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        self.remove_callbacks(tx).await?;
        self.remove_parts(tx).await?;
        let spans = message_times::spans_of(tx, self.bucket, &self.messages).await?;
        let gone = tx
            .execute_each(
                bulk(
                    "delete from messages where message_id = $1 and bucket = $2
                 and not exists (select 1 from deliveries d
                     where d.bucket = messages.bucket and d.message_id = messages.message_id)
                 and not exists (select 1 from callback_attempts a
                     where a.bucket = messages.bucket and a.message_id = messages.message_id)
                 and not exists (select 1 from raw_receipts r
                     where r.bucket = messages.bucket and r.message_id = messages.message_id)",
                    "delete from messages where message_id in (select *
                 from unnest($1::bytea[])) and bucket = $2
                 and not exists (select 1 from deliveries d
                     where d.bucket = messages.bucket and d.message_id = messages.message_id)
                 and not exists (select 1 from callback_attempts a
                     where a.bucket = messages.bucket and a.message_id = messages.message_id)
                 and not exists (select 1 from raw_receipts r
                     where r.bucket = messages.bucket and r.message_id = messages.message_id)",
                )
                .rows(&self.messages, |message| [value(id_bytes(message))])
                .bind(self.bucket.0),
            )
            .await?;
        message_times::remove_empty(tx, spans).await?;
        if gone < self.messages.len() as u64 {
            tx.execute_each(
                bulk(
                    "update messages set recipients = substr(recipients, 1, 0)
                 where message_id = $1 and bucket = $2 and length(recipients) > 0",
                    "update messages set recipients = substr(recipients, 1, 0)
                 where message_id in (select * from unnest($1::bytea[])) and bucket = $2
                     and length(recipients) > 0",
                )
                .rows(&self.messages, |message| [value(id_bytes(message))])
                .bind(self.bucket.0),
            )
            .await?;
        }
        Ok(gone)
    }
}
