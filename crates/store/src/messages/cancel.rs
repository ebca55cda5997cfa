//! Cancels by customers: recipients of a message that no carrier was handed end as `cancelled`.
//!
//! A waiting batch is found by a read, and taken by its whole key in the transaction that ends and
//! refunds its recipients. A batch that a node claims meanwhile is not taken: its recipients are
//! sent. So each recipient is either sent or refunded.

use crate::Store;
use crate::batches::{self, Batch, BatchKind, BatchRow, Claimed, HELD, Progress, WAITING};
use crate::batches::{select_batches, wanted};
use crate::deliveries::receipts::{cancelled, known};
use crate::deliveries::settle::{self, CallbackRoom, SettleContext, Settled};
use crate::messages::duplicates;
use crate::rows::{due_at_ms, id_bytes, named};
use database::{Change, Db, Result, Tx, query};
use domain::{
    AccountId, Bucket, DeliveryStatus, Environment, Gateway, MessageId, Money, Priority, Text,
    recipient_list,
};
use std::sync::Arc;

/// Recipients cancelled in one transaction at most. A single batch always fits.
const MAX_CANCELLED: usize = 1_000;

/// The counts of a message after a cancel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cancellation {
    /// All recipients.
    pub total: u64,
    /// Recipients that were cancelled, by this cancel or an earlier one.
    pub cancelled: u64,
    /// Recipients with a final status, the cancelled ones included.
    pub ended: u64,
    /// Recipients with a delivery, the cancelled ones included.
    pub known: u64,
    /// The charges of the cancelled recipients.
    pub refunded: Money,
    /// Time from which the message may be sent, Unix milliseconds.
    pub due_at_ms: i64,
}

/// The fields of a message that a cancel needs.
struct CancelRow {
    account_id: i64,
    sandbox: bool,
    gateway: String,
    due_at_ms: Option<i64>,
    body: String,
    recipients: Vec<u8>,
}

database::from_row!(CancelRow {
    account_id,
    sandbox,
    gateway,
    due_at_ms,
    body,
    recipients
});

struct EndBatches {
    store: Store,
    batches: Vec<Claimed>,
    now_ms: i64,
}

impl Change for EndBatches {
    type Output = Settled;

    async fn apply(&self, tx: &mut Tx) -> Result<Settled> {
        let keys: Vec<&Batch> = self.batches.iter().map(|one| &one.batch).collect();
        let taken = batches::take(tx, &keys).await?;
        let mut ended = Vec::with_capacity(taken.len());
        for claimed in &self.batches {
            if !taken.contains(&claimed.batch.id) {
                continue;
            }
            let mut claimed = claimed.clone();
            if claimed
                .batch
                .may_have_deliveries(claimed.content.gateway)
            {
                claimed.batch.recipients = wanted(tx, &claimed.batch).await?;
            }
            ended.push(Progress::of(claimed));
        }
        let end = |progress| cancelled(progress, DeliveryStatus::Cancelled);
        let cases = ended.iter().flat_map(end).collect();
        let cases = known(tx, cases).await?;
        let messages = settle::messages(tx, &cases).await?;
        let context = SettleContext {
            now_ms: self.now_ms,
            planner: Arc::new(|_| None),
            node: 0,
            claimed_until_ms: 0,
            callback_room: CallbackRoom::default(),
        };
        let (settled, owed) = settle::settle(tx, &context, cases, &messages).await?;
        settle::refund(tx, &self.store, self.now_ms, owed).await?;
        Ok(settled)
    }
}

/// Closes the duplicate window that a message opened.
struct CloseWindow {
    bucket: Bucket,
    message: MessageId,
    fingerprint: domain::Fingerprint,
}

impl Change for CloseWindow {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let opened_at_ms = self.message.accepted_at_ms();
        duplicates::close_window(tx, (self.bucket, self.fingerprint), opened_at_ms).await
    }
}

impl Store {
    /// Cancels the recipients of a message that wait for their carrier. It returns the settled
    /// recipients and the counts afterwards, or `None` if the account has no such message in that
    /// environment.
    ///
    /// If all recipients are cancelled, the duplicate window of the message is closed.
    pub async fn cancel_message(
        &self,
        account: AccountId,
        environment: Environment,
        message: MessageId,
        now_ms: i64,
    ) -> Result<Option<(Settled, Cancellation)>> {
        let Some(row) = self.row_to_cancel(account, environment, message).await? else {
            return Ok(None);
        };
        let bucket = self.bucket_of(account);
        let gateway = named(Gateway::from_name, &row.gateway)?;
        let total = recipient_list::count(&row.recipients);
        let priority = Priority::of(gateway, total);
        let due_ms = due_at_ms(message, row.due_at_ms);
        let mut settled = Settled::default();
        loop {
            let batches = self.unsent_batches(bucket, message, priority).await?;
            if batches.is_empty() {
                break;
            }
            let change = EndBatches {
                store: self.clone(),
                batches,
                now_ms,
            };
            settled.join(self.db.change(change).await?);
        }
        let counts = self.cancellation(bucket, message, total, due_ms).await?;
        if counts.cancelled == counts.total {
            let recipients = recipient_list::unpack(&row.recipients);
            let text = Text::from_stored(row.body.clone());
            let environment = crate::rows::environment(row.sandbox);
            let account = AccountId(row.account_id);
            let close = CloseWindow {
                bucket,
                message,
                fingerprint: domain::fingerprint(account, environment, &text, &recipients),
            };
            self.db.change(close).await?;
        }
        Ok(Some((settled, counts)))
    }

    async fn row_to_cancel(
        &self,
        account: AccountId,
        environment: Environment,
        message: MessageId,
    ) -> Result<Option<CancelRow>> {
        let sql = "select account_id, sandbox, gateway, due_at_ms, body, recipients from messages
             where bucket = $1 and message_id = $2 and account_id = $3 and sandbox = $4
                 and length(recipients) > 0";
        let query = query(sql)
            .bind(self.bucket_of(account).0)
            .bind(id_bytes(&message))
            .bind(account.0)
            .bind(environment == Environment::Sandbox);
        Db::in_time(async { self.db.read().await?.fetch_optional(query).await }).await
    }

    /// Returns some batches of a message whose recipients were not sent, and that no node has
    /// claimed.
    async fn unsent_batches(
        &self,
        bucket: Bucket,
        message: MessageId,
        priority: Priority,
    ) -> Result<Vec<Claimed>> {
        let sql = select_batches!(
            "where b.bucket = $1 and b.carrier = $2 and b.claimed_by = $3 and b.priority = $4
                 and b.message_id = $5 and b.kind = $6
             order by b.due_at_ms, b.batch_id limit $7"
        );
        let mut found: Vec<Claimed> = Vec::new();
        let mut recipients = 0;
        for carrier in self.batch_carriers(bucket).await? {
            for holder in [WAITING, HELD] {
                let query = query(sql)
                    .bind(bucket.0)
                    .bind(&carrier)
                    .bind(holder)
                    .bind(priority.rank())
                    .bind(id_bytes(&message))
                    .bind(BatchKind::First.as_str())
                    .bind(i64::try_from(MAX_CANCELLED).unwrap_or(i64::MAX));
                let rows: Vec<BatchRow> = self.db.fetch_all(query).await?;
                for row in rows {
                    let claimed = row.claimed()?;
                    let count = claimed.batch.recipients.len();
                    if recipients > 0 && recipients + count > MAX_CANCELLED {
                        return Ok(found);
                    }
                    recipients += count;
                    found.push(claimed);
                }
            }
        }
        Ok(found)
    }

    async fn cancellation(
        &self,
        bucket: Bucket,
        message: MessageId,
        total: usize,
        due_at_ms: i64,
    ) -> Result<Cancellation> {
        let (known, ended, cancelled, refunded): (i64, i64, i64, i64) = self
            .db
            .fetch_one(
                query(
                    "select count(*), count(case when status not in ('sent', 'in_doubt') then 1 end),
                     count(case status when 'cancelled' then 1 end),
                     cast(coalesce(sum(case status when 'cancelled' then charge end), 0) as bigint)
                 from deliveries where bucket = $1 and message_id = $2",
                )
                .bind(bucket.0)
                .bind(id_bytes(&message)),
            )
            .await?;
        Ok(Cancellation {
            total: total as u64,
            cancelled: cancelled.unsigned_abs(),
            ended: ended.unsigned_abs(),
            known: known.unsigned_abs(),
            refunded: Money::from_units(refunded),
            due_at_ms,
        })
    }
}
