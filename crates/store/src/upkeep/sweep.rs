//! Sweeps: recipients expire, duplicate windows close, and old parked receipts and answers are
//! removed.

use crate::buckets::Buckets;
use crate::deliveries::delivery_rows::SettlementOrFault;
use crate::deliveries::pending::PendingSettlement;
use crate::deliveries::settle::{self, Planner, SettleContext, Settled};
use crate::idempotency;
use crate::messages::duplicates;
use crate::otps;
use crate::rows::id_bytes;
use crate::upkeep::marks::{lower_marks, read_mark, write_mark};
use database::{Change, Db, Result, Tx, locking, query};
use domain::{Bucket, DeliveryEvent, Gateway, MessageId};
use std::collections::BTreeMap;

/// Recipients expired in one transaction at most.
const MAX_EXPIRED: usize = 500;

/// Rows removed in one transaction at most, plus any that closed together with the last of them.
const MAX_TIDIED: i64 = 2_000;

/// Overlap of sweeps. A message due this long before the mark is read again, because it may have
/// been in flight.
const OVERLAP_MS: i64 = 60_000;

/// Progress after which a sweep writes its mark. Messages swept twice are already settled.
const MARK_INTERVAL_MS: i64 = 60_000;

/// Time for which a receipt without a submit is kept.
const PARKED_FOR_MS: i64 = 6 * 3_600_000;

/// A request to expire a gateway's recipients that have no outcome in time.
#[derive(Clone)]
pub struct Expiry {
    /// The gateway.
    pub gateway: Gateway,
    /// Messages due before this have expired, Unix milliseconds.
    pub over_before_ms: i64,
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// The planner of second legs. None are made here, but settling requires it.
    pub planner: Planner,
}

struct Expire {
    buckets: Buckets,
    expiry: Expiry,
    bucket: Bucket,
}

impl Change for Expire {
    /// The settled recipients, and `true` if more remain.
    type Output = (Settled, bool);

    async fn apply(&self, tx: &mut Tx) -> Result<(Settled, bool)> {
        let mark = expired_mark(self.expiry.gateway, self.bucket);
        let until = self.expiry.over_before_ms;
        let mut from = read_mark(tx, &mark).await?;
        if from > until {
            // The clock was set back. A message that is due from now on must not lie before the
            // mark when it expires.
            write_mark(tx, &mark, until).await?;
            from = until;
        }
        let (mut cases, is_full) = self.due_when_accepted(tx, from, until).await?;
        let last = cases.last().map(|case| case.message.accepted_at_ms());
        let (scheduled, is_scheduled_full) = self.due_later(tx, from, until).await?;
        // If no row can be read, the next step would find the same rows.
        let (more, more_scheduled) = (
            is_full && !cases.is_empty(),
            is_scheduled_full && !scheduled.is_empty(),
        );
        let swept = match (more, more_scheduled) {
            (_, true) => from,
            (true, false) => last.unwrap_or(from),
            (false, false) => until,
        };
        let more = more || more_scheduled;
        cases.extend(scheduled);
        // The mark is locked before the wallets that get refunds, as everywhere.
        if more || swept - from > MARK_INTERVAL_MS {
            write_mark(tx, &mark, swept).await?;
        }
        let settled = give_up(tx, self.buckets, &self.expiry, cases).await?;
        Ok((settled, more))
    }
}

impl Expire {
    /// Returns some open recipients of messages that were accepted, and so due, in this time, and
    /// whether there may be more.
    async fn due_when_accepted(
        &self,
        tx: &mut Tx,
        from: i64,
        until: i64,
    ) -> Result<(Vec<PendingSettlement>, bool)> {
        let sql = locking!(
            "select d.bucket, d.message_id, d.recipient, d.status, d.leg, d.failed_legs, d.pages,
                 d.delivered_first, d.delivered_second, d.gave_up, d.suffixed, d.charge,
                     d.reserve, d.carrier, d.doubts
             from deliveries d
             join messages m on m.bucket = d.bucket and m.message_id = d.message_id
             where d.bucket = $1 and d.message_id >= $2 and d.message_id < $3
                 and d.status in ('sent', 'in_doubt') and m.gateway = $4 and m.due_at_ms is null
             order by d.message_id, d.recipient limit $5";
            "for update of d"
        );
        let rows: Vec<SettlementOrFault> = tx
            .fetch_all(
                query(sql)
                    .bind(self.bucket.0)
                    .bind(id_bytes(&MessageId::lowest_at(from - OVERLAP_MS)))
                    .bind(id_bytes(&MessageId::lowest_at(until)))
                    .bind(self.expiry.gateway.as_str())
                    .bind(i64::try_from(MAX_EXPIRED).unwrap_or(i64::MAX)),
            )
            .await?;
        Ok(readable(rows))
    }

    /// Returns some open recipients of messages that were due in this time and accepted before, and
    /// whether there may be more.
    async fn due_later(
        &self,
        tx: &mut Tx,
        from: i64,
        until: i64,
    ) -> Result<(Vec<PendingSettlement>, bool)> {
        let sql = locking!(
            "select d.bucket, d.message_id, d.recipient, d.status, d.leg, d.failed_legs, d.pages,
                 d.delivered_first, d.delivered_second, d.gave_up, d.suffixed, d.charge,
                     d.reserve, d.carrier, d.doubts
             from messages m
             join deliveries d on d.bucket = m.bucket and d.message_id = m.message_id
             where m.bucket = $1 and m.due_at_ms >= $2 and m.due_at_ms < $3
                 and d.status in ('sent', 'in_doubt') and m.gateway = $4
             order by m.due_at_ms, m.message_id, d.recipient limit $5";
            "for update of d"
        );
        let rows: Vec<SettlementOrFault> = tx
            .fetch_all(
                query(sql)
                    .bind(self.bucket.0)
                    .bind(from - OVERLAP_MS)
                    .bind(until)
                    .bind(self.expiry.gateway.as_str())
                    .bind(i64::try_from(MAX_EXPIRED).unwrap_or(i64::MAX)),
            )
            .await?;
        Ok(readable(rows))
    }
}

/// Returns the readable rows, and whether there may be more rows.
fn readable(rows: Vec<SettlementOrFault>) -> (Vec<PendingSettlement>, bool) {
    let is_full = rows.len() == MAX_EXPIRED;
    let cases = rows.into_iter().filter_map(|row| row.settlement().ok());
    (cases.collect(), is_full)
}

/// Returns the name of the mark up to which recipients of a gateway's messages are expired.
fn expired_mark(gateway: Gateway, bucket: Bucket) -> String {
    format!("expired-{}-{}", gateway.as_str(), bucket.0)
}

/// Returns the names of the marks of all gateways.
pub(crate) fn expired_marks(bucket: Bucket) -> Vec<String> {
    let gateways = Gateway::ALL.iter();
    gateways
        .map(|&gateway| expired_mark(gateway, bucket))
        .collect()
}

async fn give_up(
    tx: &mut Tx,
    buckets: Buckets,
    expiry: &Expiry,
    cases: Vec<PendingSettlement>,
) -> Result<Settled> {
    let messages = settle::messages(tx, &cases).await?;
    let cases = cases
        .into_iter()
        .map(|case| PendingSettlement {
            error: Some("no receipt in time".to_owned()),
            events: vec![DeliveryEvent::GaveUp],
            ..case
        })
        .collect();
    let context = SettleContext {
        now_ms: expiry.now_ms,
        planner: expiry.planner.clone(),
        node: None,
        claimed_until_ms: 0,
        callback_room: settle::CallbackRoom::default(),
    };
    let (settled, owed) = settle::settle(tx, &context, cases, &messages).await?;
    settle::refund(tx, buckets, expiry.now_ms, owed).await?;
    Ok(settled)
}

/// Sets the sweeps back to messages that were due at a time, if they have passed it. Some
/// recipients of these are in flight only now. No sweep has passed the latest messages.
pub(crate) async fn look_back(
    tx: &mut Tx,
    due: impl Iterator<Item = (Bucket, i64)>,
    now_ms: i64,
) -> Result<()> {
    let mut passed: BTreeMap<Bucket, i64> = BTreeMap::new();
    for (bucket, at_ms) in due.filter(|(_, at_ms)| now_ms - at_ms > OVERLAP_MS) {
        let oldest_ms = passed.entry(bucket).or_insert(at_ms);
        *oldest_ms = at_ms.min(*oldest_ms);
    }
    for (bucket, oldest_ms) in passed {
        lower_marks(tx, &expired_marks(bucket), oldest_ms).await?;
    }
    Ok(())
}

struct Tidy {
    bucket: Bucket,
    now_ms: i64,
    answers_before_ms: i64,
}

impl Change for Tidy {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let closed = duplicates::remove_closed(tx, self.bucket, self.now_ms, MAX_TIDIED).await?;
        tx.execute(
            query("delete from parked_receipts where bucket = $1 and received_at_ms < $2")
                .bind(self.bucket.0)
                .bind(self.now_ms - PARKED_FOR_MS),
        )
        .await?;
        let before_ms = self.answers_before_ms;
        let old = idempotency::remove_old(tx, self.bucket, before_ms, MAX_TIDIED).await?;
        let otps = otps::remove_old(tx, self.bucket, self.now_ms, MAX_TIDIED).await?;
        Ok(closed.max(old).max(otps) >= MAX_TIDIED.unsigned_abs())
    }
}

/// The sweep of a bucket.
#[derive(Clone, Copy)]
pub struct Sweep<'s> {
    pub(crate) db: &'s Db,
}

impl Sweep<'_> {
    /// Expires some recipients of a bucket that have no outcome in time. Returns the settled
    /// recipients, and `true` if more remain. The caller then repeats the call.
    pub async fn expire(self, bucket: Bucket, expiry: &Expiry) -> Result<(Settled, bool)> {
        let change = Expire {
            buckets: Buckets::of(self.db),
            expiry: expiry.clone(),
            bucket,
        };
        self.db.change(change).await
    }

    /// Removes closed duplicate windows, old parked receipts, old one-time passwords and the answers
    /// of idempotency keys that were kept before `answers_before_ms` of a bucket, in small steps.
    /// Returns `true` if more remain.
    pub async fn tidy(self, bucket: Bucket, now_ms: i64, answers_before_ms: i64) -> Result<bool> {
        let tidy = Tidy {
            bucket,
            now_ms,
            answers_before_ms,
        };
        self.db.change(tidy).await
    }
}
