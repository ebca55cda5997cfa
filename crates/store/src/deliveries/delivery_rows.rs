//! The rows of deliveries.

use crate::deliveries::doubts::Doubts;
use crate::deliveries::pending::PendingSettlement;
use crate::rows::{id_bytes, message_id, named, number, recipient};
use database::{FromRow, Outage, Result, Row, Tx, bulk, locking, value};
use domain::{Bucket, Delivery, DeliveryStatus, Leg, MessageId, Money, PageSet, Recipient};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// The columns of a delivery that settling needs.
struct SettlementRow {
    bucket: i16,
    message_id: Vec<u8>,
    recipient: i64,
    status: String,
    leg: i16,
    pages: i16,
    charge: i64,
    carrier: String,
    // A null means the usual value: zero or false.
    failed_legs: Option<i16>,
    delivered_first: Option<i64>,
    delivered_second: Option<i64>,
    gave_up: Option<bool>,
    suffixed: Option<bool>,
    reserve: Option<i64>,
    doubts: Option<String>,
}

database::from_row!(SettlementRow {
    bucket,
    message_id,
    recipient,
    status,
    leg,
    pages,
    charge,
    carrier,
    failed_legs,
    delivered_first,
    delivered_second,
    gave_up,
    suffixed,
    reserve,
    doubts
});

impl SettlementRow {
    /// Returns the stored case, without events.
    fn case(self) -> Result<PendingSettlement> {
        let (doubted_pages, doubts) = Doubts::from_text(self.doubts.as_deref())?;
        let status = named(DeliveryStatus::from_name, &self.status)?;
        // A delivery with the usual course stores no more.
        let usual = status == DeliveryStatus::Delivered && (self.leg, self.pages) == (1, 1);
        let delivered_first = self.delivered_first.or(usual.then_some(1));
        let delivered = [delivered_first, self.delivered_second];
        Ok(PendingSettlement {
            bucket: Bucket(self.bucket.into()),
            message: message_id(&self.message_id)?,
            recipient: recipient(self.recipient),
            stored: true,
            late: false,
            delivery: Delivery {
                status,
                leg: Leg::from_number(self.leg.into()),
                failed_legs: self.failed_legs.unwrap_or_default().into(),
                pages: self.pages.into(),
                delivered_pages: delivered
                    .map(|bits| PageSet::from_stored(bits.unwrap_or_default())),
                doubted_pages,
                gave_up: self.gave_up.unwrap_or_default(),
            },
            suffixed: self.suffixed.unwrap_or_default(),
            charge: Money::from_units(self.charge),
            reserve: Money::from_units(self.reserve.unwrap_or_default()),
            carrier: self.carrier,
            doubts,
            error: None,
            events: Vec::new(),
            receipts: Vec::new(),
        })
    }
}

static UNREADABLE: AtomicU64 = AtomicU64::new(0);

/// Log limiter: a sweep meets the same rows again and again.
static UNREADABLE_ROWS: Outage = Outage::of("deliveries cannot be read");

/// Returns how often this process met a delivery that it could not read.
pub fn unreadable_deliveries() -> u64 {
    UNREADABLE.load(Ordering::Relaxed)
}

struct KeyRow {
    message_id: Vec<u8>,
    recipient: i64,
}

database::from_row!(KeyRow {
    message_id,
    recipient
});

/// A delivery, or the reason why it cannot be read. A damaged row must not block the rows beside
/// it.
pub(crate) struct SettlementOrFault {
    key: Option<(MessageId, Recipient)>,
    case: Result<PendingSettlement>,
}

impl FromRow for SettlementOrFault {
    fn from_row(row: &Row<'_>) -> Result<Self> {
        let key = KeyRow::from_row(row).ok();
        let key =
            key.and_then(|key| Some((message_id(&key.message_id).ok()?, recipient(key.recipient))));
        Ok(Self {
            key,
            case: SettlementRow::from_row(row).and_then(SettlementRow::case),
        })
    }
}

impl SettlementOrFault {
    /// Returns the case, or the key of an unreadable row. The log entry shows no phone number.
    pub(crate) fn settlement(
        self,
    ) -> std::result::Result<PendingSettlement, Option<(MessageId, Recipient)>> {
        self.case.map_err(|error| {
            UNREADABLE.fetch_add(1, Ordering::Relaxed);
            let message = self.key.map(|(message, _)| message.to_string());
            if let Some(unlogged) = UNREADABLE_ROWS.is_to_log() {
                tracing::error!(%error, message, unlogged, "delivery: not readable, left as it is");
            }
            self.key
        })
    }
}

/// The stored deliveries of some keys.
pub(crate) struct Stored {
    pub(crate) cases: BTreeMap<(MessageId, Recipient), PendingSettlement>,
    /// Keys of deliveries that exist and cannot be read.
    pub(crate) unreadable: BTreeSet<(MessageId, Recipient)>,
}

/// Reads deliveries by their full keys, and locks them for other nodes until the commit.
pub(crate) async fn stored(tx: &mut Tx, keys: &[(Bucket, MessageId, Recipient)]) -> Result<Stored> {
    let one = locking!(
        "select bucket, message_id, recipient, status, leg, pages, charge, carrier, failed_legs,
             delivered_first, delivered_second, gave_up, suffixed, reserve, doubts
         from deliveries where bucket = $1 and message_id = $2 and recipient = $3";
        "for update"
    );
    let many =
        "select bucket, message_id, recipient, status, leg, pages, charge, carrier, failed_legs,
             delivered_first, delivered_second, gave_up, suffixed, reserve, doubts
         from deliveries where (bucket, message_id, recipient) in (
             select * from unnest($1::bigint[], $2::bytea[], $3::bigint[]))
         order by bucket, message_id, recipient for update";
    let read = bulk(one, many).rows(keys, |key| {
        [
            value(key.0.0),
            value(id_bytes(&key.1)),
            value(number(key.2)),
        ]
    });
    let rows: Vec<SettlementOrFault> = tx.fetch_each(read).await?;
    let (mut cases, mut unreadable) = (BTreeMap::new(), BTreeSet::new());
    for row in rows {
        match row.settlement() {
            Ok(case) => drop(cases.insert((case.message, case.recipient), case)),
            Err(key) => unreadable.extend(key),
        }
    }
    Ok(Stored { cases, unreadable })
}

/// Records the last leg that may have been sent, if there is a delivery.
pub(crate) async fn set_leg(
    tx: &mut Tx,
    keys: &[(Bucket, MessageId, Recipient)],
    leg: Leg,
) -> Result<()> {
    let set = bulk(
        "update deliveries set leg = $4 where bucket = $1 and message_id = $2 and recipient = $3",
        "update deliveries set leg = $4 where (bucket, message_id, recipient) in (
             select * from unnest($1::bigint[], $2::bytea[], $3::bigint[]))",
    );
    let set = set.rows(keys, |key| {
        [
            value(key.0.0),
            value(id_bytes(&key.1)),
            value(number(key.2)),
        ]
    });
    tx.execute_each(set.bind(leg.number())).await?;
    Ok(())
}

/// Completes cases with their stored deliveries, where they may have one. Two legs of one recipient
/// may be in flight at once: their events become one case.
pub(crate) async fn known(
    tx: &mut Tx,
    cases: Vec<PendingSettlement>,
) -> Result<Vec<PendingSettlement>> {
    let (known, mut all): (Vec<PendingSettlement>, Vec<PendingSettlement>) =
        cases.into_iter().partition(|case| case.stored);
    if known.is_empty() {
        return Ok(all);
    }
    let mut known_once: BTreeMap<(MessageId, Recipient), PendingSettlement> = BTreeMap::new();
    for case in known {
        match known_once.entry((case.message, case.recipient)) {
            Entry::Vacant(entry) => drop(entry.insert(case)),
            Entry::Occupied(mut entry) => {
                let first = entry.get_mut();
                first.doubts.join(case.doubts);
                first.events.extend(case.events);
                first.carrier = case.carrier;
                first.error = case.error.or_else(|| first.error.take());
                first.late &= case.late;
            }
        }
    }
    let keys: Vec<_> = known_once.values().map(PendingSettlement::key).collect();
    let mut stored = stored(tx, &keys).await?;
    for case in known_once.into_values() {
        let key = (case.message, case.recipient);
        match stored.cases.remove(&key) {
            // The recipient was refused long ago. A copy that was sent meanwhile was accepted.
            Some(found) if case.is_refused_late(&found.delivery) => {}
            Some(found) => all.push(found.with_events_of(case)),
            // The recipient is sent from its present batch. This report has no valid event for it.
            None if case.late || stored.unreadable.contains(&key) => {}
            None => all.push(PendingSettlement {
                stored: false,
                ..case
            }),
        }
    }
    Ok(all)
}
