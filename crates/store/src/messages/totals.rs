//! Totals of messages: recipients by status, pages, charges and refunds.

use crate::buckets::Buckets;
use crate::messages::reports::Counted;
use crate::rows::{id_bytes, message_id};
use database::{Db, Result, bulk, value};
use domain::{AccountId, MessageId, Money};
use std::collections::HashMap;

/// The totals of the recipients of a message that have a delivery.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MessageTotals {
    /// Recipients with a delivery: submitted, or ended without it.
    pub deliveries: u64,
    /// Recipients without a final status.
    pub open: u64,
    /// Delivered recipients.
    pub delivered: u64,
    /// Recipients that a carrier reported as not delivered.
    pub undelivered: u64,
    /// Expired recipients.
    pub expired: u64,
    /// Refused recipients.
    pub rejected: u64,
    /// Recipients that failed for another reason.
    pub failed: u64,
    /// Recipients that were cancelled before a carrier had them.
    pub cancelled: u64,
    /// Charges of these recipients.
    pub charged: Money,
    /// The refunds so far.
    pub refunded: Money,
}

struct TotalsRow {
    message_id: Vec<u8>,
    deliveries: i64,
    open: i64,
    delivered: i64,
    undelivered: i64,
    expired: i64,
    rejected: i64,
    failed: i64,
    cancelled: i64,
    gave_up: i64,
    charged: i64,
    refunded: i64,
}

database::from_row!(TotalsRow {
    message_id,
    deliveries,
    open,
    delivered,
    undelivered,
    expired,
    rejected,
    failed,
    cancelled,
    gave_up,
    charged,
    refunded
});

impl TotalsRow {
    fn totals(&self) -> MessageTotals {
        MessageTotals {
            deliveries: self.deliveries.unsigned_abs(),
            open: self.open.unsigned_abs(),
            delivered: self.delivered.unsigned_abs(),
            undelivered: self.undelivered.unsigned_abs(),
            expired: self.expired.unsigned_abs(),
            rejected: self.rejected.unsigned_abs(),
            failed: self.failed.unsigned_abs(),
            cancelled: self.cancelled.unsigned_abs(),
            charged: Money::from_units(self.charged),
            refunded: Money::from_units(self.refunded),
        }
    }
}

impl MessageTotals {
    /// The recipients with a final status that are not delivered, cancelled ones included.
    pub const fn not_delivered(&self) -> u64 {
        self.undelivered + self.expired + self.rejected + self.failed + self.cancelled
    }
}

/// Returns the totals of some messages, each with the number of its recipients. The totals of a
/// message that does not change any more are remembered.
pub(super) async fn read(
    db: &Db,
    cache: &Counted<MessageTotals>,
    messages: &[(AccountId, MessageId, u64)],
) -> Result<HashMap<MessageId, MessageTotals>> {
    let mut found: HashMap<MessageId, MessageTotals> = HashMap::with_capacity(messages.len());
    let mut wanted = Vec::with_capacity(messages.len());
    for &(account, id, recipients) in messages {
        match cache.get(id) {
            Some(totals) => drop(found.insert(id, totals)),
            None => wanted.push((account, id, recipients)),
        }
    }
    if wanted.is_empty() {
        return Ok(found);
    }
    let rows: Vec<TotalsRow> = Db::in_time(async {
        let mut tx = db.read().await?;
        tx.fetch_each(statement(db, &wanted)).await
    })
    .await?;
    let recipients: HashMap<MessageId, u64> = wanted
        .iter()
        .map(|&(_, id, recipients)| (id, recipients))
        .collect();
    for row in rows {
        let (id, totals) = (message_id(&row.message_id)?, row.totals());
        let ended = totals.deliveries - totals.open;
        // An expired recipient may still be corrected by a late receipt.
        if recipients.get(&id) == Some(&ended) && row.gave_up == 0 {
            cache.keep(id, totals);
        }
        found.insert(id, totals);
    }
    Ok(found)
}

fn statement<'q>(db: &Db, messages: &'q [(AccountId, MessageId, u64)]) -> database::Bulk<'q> {
    bulk(
        "with v (bucket, account_id, message_id) as (values ($1, $2, $3))
         select v.message_id, count(d.recipient) as deliveries,
             count(case when d.status in ('sent', 'in_doubt') then 1 end) as open,
             count(case d.status when 'delivrd' then 1 end) as delivered,
             count(case d.status when 'undeliv' then 1 end) as undelivered,
             count(case d.status when 'expired' then 1 end) as expired,
             count(case d.status when 'rejectd' then 1 end) as rejected,
             count(case d.status when 'failed' then 1 end) as failed,
             count(case d.status when 'cancelled' then 1 end) as cancelled,
             count(case when d.gave_up then 1 end) as gave_up,
             cast(coalesce(sum(d.charge), 0) as bigint) as charged,
             (select cast(coalesce(sum(l.amount), 0) as bigint) from ledger l
                 where l.bucket = v.bucket and l.account_id = v.account_id
                     and l.subject = v.message_id
                     and l.kind in ('refund', 'unused_leg')) as refunded
         from v left join deliveries d on d.bucket = v.bucket and d.message_id = v.message_id
         group by v.bucket, v.account_id, v.message_id",
        "with v (bucket, account_id, message_id) as (select *
         from unnest($1::bigint[], $2::bigint[], $3::bytea[]))
         select v.message_id, count(d.recipient) as deliveries,
             count(case when d.status in ('sent', 'in_doubt') then 1 end) as open,
             count(case d.status when 'delivrd' then 1 end) as delivered,
             count(case d.status when 'undeliv' then 1 end) as undelivered,
             count(case d.status when 'expired' then 1 end) as expired,
             count(case d.status when 'rejectd' then 1 end) as rejected,
             count(case d.status when 'failed' then 1 end) as failed,
             count(case d.status when 'cancelled' then 1 end) as cancelled,
             count(case when d.gave_up then 1 end) as gave_up,
             cast(coalesce(sum(d.charge), 0) as bigint) as charged,
             (select cast(coalesce(sum(l.amount), 0) as bigint) from ledger l
                 where l.bucket = v.bucket and l.account_id = v.account_id
                     and l.subject = v.message_id
                     and l.kind in ('refund', 'unused_leg')) as refunded
         from v left join deliveries d on d.bucket = v.bucket and d.message_id = v.message_id
         group by v.bucket, v.account_id, v.message_id",
    )
    .rows(messages, |(account, id, _)| {
        [
            value(Buckets::of(db).account(*account).0),
            value(account.0),
            value(id_bytes(id)),
        ]
    })
}
