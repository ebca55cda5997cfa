//! What time does: recipients expire, windows close, old parked receipts go.

use crate::deliveries::CaseOrFault;
use crate::deliveries::settle::{self, Case, Planner, Settled, Terrain};
use crate::rows::id_bytes;
use crate::{Store, messages::duplicates};
use database::{Change, Result, Tx, bulk, locking, query, value};
use domain::{Bucket, DeliveryEvent, Gateway, MessageId};
use std::collections::BTreeMap;

/// Most recipients expired in one transaction.
const MOST_EXPIRED: usize = 500;
/// Most rows tidied in one transaction, but for those that closed with the last of them.
const MOST_TIDIED: i64 = 2_000;
/// A sweep looks again at messages that were due this long before what was swept: they may have been in flight then.
const OVERLAP_MS: i64 = 60_000;
/// How far a sweep goes before that is written down; what is swept twice is found settled.
const MARK_EVERY_MS: i64 = 60_000;
/// How long a receipt without a submit is kept for it.
const PARKED_FOR_MS: i64 = 6 * 3_600_000;

/// Asks for the recipients of a gateway's messages to be expired that have no outcome in time.
#[derive(Clone)]
pub struct Expiry {
    /// Which gateway.
    pub gateway: Gateway,
    /// Messages that were due before this have had their time, Unix milliseconds.
    pub over_before_ms: i64,
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// Makes second legs (none are made here, but settling asks for it).
    pub planner: Planner,
}

struct Expire {
    store: Store,
    expiry: Expiry,
    bucket: Bucket,
}

impl Change for Expire {
    /// What was settled, and whether more remains.
    type Output = (Settled, bool);

    async fn apply(&self, tx: &mut Tx) -> Result<(Settled, bool)> {
        let mark = expired_mark(self.expiry.gateway, self.bucket);
        let until = self.expiry.over_before_ms;
        let mut from = read_mark(tx, &mark).await?;
        if from > until {
            // The clock was set back. A message that is due from now on must not lie before the mark when its
            // time has come.
            write_mark(tx, &mark, until).await?;
            from = until;
        }
        let (mut cases, is_full) = self.due_when_accepted(tx, from, until).await?;
        let last = cases.last().map(|case| case.message.accepted_at_ms());
        let (scheduled, is_scheduled_full) = self.due_later(tx, from, until).await?;
        // Where none can be read the next step would find the same.
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
        // Before the wallets of those that are refunded: others lock them in this order.
        if more || swept - from > MARK_EVERY_MS {
            write_mark(tx, &mark, swept).await?;
        }
        let settled = give_up(tx, &self.store, &self.expiry, cases).await?;
        Ok((settled, more))
    }
}

impl Expire {
    /// Returns some open recipients of messages that were accepted, and so due, in this time, and whether there may be more.
    async fn due_when_accepted(
        &self,
        tx: &mut Tx,
        from: i64,
        until: i64,
    ) -> Result<(Vec<Case>, bool)> {
        let sql = locking!(
            "select d.bucket, d.message_id, d.recipient, d.status, d.leg, d.failed_legs, d.pages,
                 d.delivered_first, d.delivered_second, d.gave_up, d.suffixed, d.charge, d.reserve, d.carrier,
                 d.doubts
             from deliveries d
             join messages m on m.bucket = d.bucket and m.message_id = d.message_id
             where d.bucket = $1 and d.message_id >= $2 and d.message_id < $3
                 and d.status in ('sent', 'in_doubt') and m.gateway = $4 and m.due_at_ms is null
             order by d.message_id, d.recipient limit $5";
            "for update of d"
        );
        let rows: Vec<CaseOrFault> = tx
            .fetch_all(
                query(sql)
                    .bind(self.bucket.0)
                    .bind(id_bytes(&MessageId::lowest_at(from - OVERLAP_MS)))
                    .bind(id_bytes(&MessageId::lowest_at(until)))
                    .bind(self.expiry.gateway.as_str())
                    .bind(i64::try_from(MOST_EXPIRED).unwrap_or(i64::MAX)),
            )
            .await?;
        Ok(readable(rows))
    }

    /// Returns some open recipients of messages that were due in this time and accepted before, and whether there may be
    /// more.
    async fn due_later(&self, tx: &mut Tx, from: i64, until: i64) -> Result<(Vec<Case>, bool)> {
        let sql = locking!(
            "select d.bucket, d.message_id, d.recipient, d.status, d.leg, d.failed_legs, d.pages,
                 d.delivered_first, d.delivered_second, d.gave_up, d.suffixed, d.charge, d.reserve, d.carrier,
                 d.doubts
             from messages m
             join deliveries d on d.bucket = m.bucket and d.message_id = m.message_id
             where m.bucket = $1 and m.due_at_ms >= $2 and m.due_at_ms < $3
                 and d.status in ('sent', 'in_doubt') and m.gateway = $4
             order by m.due_at_ms, m.message_id, d.recipient limit $5";
            "for update of d"
        );
        let rows: Vec<CaseOrFault> = tx
            .fetch_all(
                query(sql)
                    .bind(self.bucket.0)
                    .bind(from - OVERLAP_MS)
                    .bind(until)
                    .bind(self.expiry.gateway.as_str())
                    .bind(i64::try_from(MOST_EXPIRED).unwrap_or(i64::MAX)),
            )
            .await?;
        Ok(readable(rows))
    }
}

/// Returns the rows that can be read, and whether there may be more rows.
fn readable(rows: Vec<CaseOrFault>) -> (Vec<Case>, bool) {
    let is_full = rows.len() == MOST_EXPIRED;
    let cases = rows.into_iter().filter_map(|row| row.told().ok());
    (cases.collect(), is_full)
}

/// How far recipients of a gateway's messages have been expired.
fn expired_mark(gateway: Gateway, bucket: Bucket) -> String {
    format!("expired-{}-{}", gateway.as_str(), bucket.0)
}

/// How far those of each gateway have been.
pub(crate) fn expired_marks(bucket: Bucket) -> Vec<String> {
    let gateways = Gateway::ALL.iter();
    gateways
        .map(|&gateway| expired_mark(gateway, bucket))
        .collect()
}

async fn give_up(tx: &mut Tx, store: &Store, expiry: &Expiry, cases: Vec<Case>) -> Result<Settled> {
    let messages = settle::messages(tx, &cases).await?;
    let cases = cases
        .into_iter()
        .map(|case| Case {
            error: Some("no receipt in time".to_owned()),
            events: vec![DeliveryEvent::GaveUp],
            ..case
        })
        .collect();
    let terrain = Terrain {
        now_ms: expiry.now_ms,
        planner: expiry.planner.clone(),
        node: 0,
        claimed_until_ms: 0,
        callback_room: settle::CallbackRoom::default(),
    };
    let (settled, owed) = settle::settle(tx, &terrain, cases, &messages).await?;
    settle::refund(tx, store, expiry.now_ms, owed).await?;
    Ok(settled)
}

/// Lets the sweeps begin again at messages that were due then, where they have passed them: only now some of their
/// recipients are in flight. No sweep has passed the youngest messages.
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

/// Takes back those of these marks that have come further than this.
pub(crate) async fn lower_marks(tx: &mut Tx, names: &[String], to: i64) -> Result<()> {
    tx.execute_each(
        bulk(
            "update marks set value = $2
         where marks.name = $1 and marks.value > $2",
            "with v (name) as (select * from unnest($1::text[]))
         update marks set value = $2 from v where marks.name = v.name and marks.value > $2",
        )
        .rows(names, |name| [value(name)])
        .bind(to),
    )
    .await?;
    Ok(())
}

pub(crate) async fn read_mark(tx: &mut Tx, name: &str) -> Result<i64> {
    let found: Option<i64> = tx
        .fetch_optional(query("select value from marks where name = $1").bind(name))
        .await?;
    Ok(found.unwrap_or(0))
}

pub(crate) async fn write_mark(tx: &mut Tx, name: &str, value: i64) -> Result<()> {
    tx.execute(
        query(
            "insert into marks (name, value) values ($1, $2)
         on conflict (name) do update set value = excluded.value",
        )
        .bind(name)
        .bind(value),
    )
    .await?;
    Ok(())
}

struct Tidy {
    bucket: Bucket,
    now_ms: i64,
}

impl Change for Tidy {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let closed = duplicates::remove_closed(tx, self.bucket, self.now_ms, MOST_TIDIED).await?;
        tx.execute(
            query("delete from parked_receipts where bucket = $1 and received_at_ms < $2")
                .bind(self.bucket.0)
                .bind(self.now_ms - PARKED_FOR_MS),
        )
        .await?;
        Ok(closed >= MOST_TIDIED.unsigned_abs())
    }
}

impl Store {
    /// Expires some recipients of a bucket that have no outcome in time. Gives what was settled, and whether
    /// more remain: then call again.
    pub async fn expire(&self, bucket: Bucket, expiry: &Expiry) -> Result<(Settled, bool)> {
        let change = Expire {
            store: self.clone(),
            expiry: expiry.clone(),
            bucket,
        };
        self.db.change(change).await
    }

    /// Forgets closed duplicate windows and old parked receipts of a bucket, in small steps; whether more
    /// remain.
    pub async fn tidy(&self, bucket: Bucket, now_ms: i64) -> Result<bool> {
        self.db.change(Tidy { bucket, now_ms }).await
    }
}
