//! Deliveries as they are stored.

use crate::doubts::Doubts;
use crate::rows::{id_bytes, message_id, named, number, recipient, within};
use crate::settle::Case;
use database::{Error, Outage, Result, Tx, changed_rows, find_rows};
use domain::{Bucket, Delivery, DeliveryStatus, Leg, MessageId, Money, PageSet, Recipient};
use sqlx::{FromRow, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

/// The columns of a delivery that settling needs.
#[derive(sqlx::FromRow)]
struct CaseRow {
    bucket: i16,
    message_id: Vec<u8>,
    recipient: i64,
    status: String,
    leg: i16,
    pages: i16,
    charge: i64,
    carrier: String,
    // Null where they are as usual: nothing, or no.
    failed_legs: Option<i16>,
    delivered_first: Option<i64>,
    delivered_second: Option<i64>,
    gave_up: Option<bool>,
    suffixed: Option<bool>,
    reserve: Option<i64>,
    doubts: Option<String>,
}

impl CaseRow {
    /// The stored case, without events.
    fn case(self) -> Result<Case> {
        let (doubted_pages, doubts) = Doubts::from_text(self.doubts.as_deref())?;
        let status = named(DeliveryStatus::from_name, &self.status)?;
        // Of what was delivered in the usual way nothing more is stored.
        let usual = status == DeliveryStatus::Delivered && (self.leg, self.pages) == (1, 1);
        let delivered_first = self.delivered_first.or(usual.then_some(1));
        let delivered = [delivered_first, self.delivered_second];
        Ok(Case {
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
        })
    }
}

static UNREADABLE: AtomicU64 = AtomicU64::new(0);
/// A sweep meets the same ones again and again.
static UNREADABLE_ROWS: Outage = Outage::of("deliveries cannot be read");

/// How often this process met a delivery that it could not read.
pub fn unreadable_deliveries() -> u64 {
    UNREADABLE.load(Ordering::Relaxed)
}

#[derive(sqlx::FromRow)]
struct KeyRow {
    message_id: Vec<u8>,
    recipient: i64,
}

/// A delivery, or why it cannot be read: one that is damaged keeps nobody from those beside it.
pub(crate) struct CaseOrFault {
    key: Option<(MessageId, Recipient)>,
    case: Result<Case>,
}

impl<'r, R: Row> FromRow<'r, R> for CaseOrFault
where
    KeyRow: FromRow<'r, R>,
    CaseRow: FromRow<'r, R>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        let key = KeyRow::from_row(row).ok();
        let key =
            key.and_then(|key| Some((message_id(&key.message_id).ok()?, recipient(key.recipient))));
        let case = CaseRow::from_row(row);
        Ok(Self {
            key,
            case: case.map_err(Error::from).and_then(CaseRow::case),
        })
    }
}

impl CaseOrFault {
    /// The case, or the key of what is left as it is. Told without its number.
    pub(crate) fn told(self) -> std::result::Result<Case, Option<(MessageId, Recipient)>> {
        self.case.map_err(|error| {
            UNREADABLE.fetch_add(1, Ordering::Relaxed);
            let message = self.key.map(|(message, _)| message.to_string());
            if let Some(unlogged) = UNREADABLE_ROWS.is_to_log() {
                tracing::error!(%error, message, unlogged, "a delivery cannot be read, and is left as it is");
            }
            self.key
        })
    }
}

/// What there is of some deliveries.
pub(crate) struct Stored {
    pub(crate) cases: BTreeMap<(MessageId, Recipient), Case>,
    /// They are there, and nobody can tell how they stand.
    pub(crate) unreadable: BTreeSet<(MessageId, Recipient)>,
}

/// Reads deliveries by their full keys, and keeps other nodes from changing them until the commit. The one bucket in
/// which they lie is named beside them, where there is one to name: rows on several servers cannot be locked.
pub(crate) async fn stored(
    tx: &mut Tx,
    bucket: Option<Bucket>,
    keys: &[(Bucket, MessageId, Recipient)],
) -> Result<Stored> {
    let sql = format!(
        "select bucket, message_id, recipient, status, leg, failed_legs, pages, delivered_first,
             delivered_second, gave_up, suffixed, charge, reserve, carrier, doubts
         from deliveries where (bucket, message_id, recipient) in (values {{rows}}){within}
         order by bucket, message_id, recipient{}",
        tx.for_update(),
        within = within(bucket, 1),
    );
    let rows: Vec<CaseOrFault> = find_rows!(
        tx,
        keys,
        3,
        &sql,
        |query, key| query
            .bind(key.0.0)
            .bind(id_bytes(&key.1))
            .bind(number(key.2)),
        after
            | query
            | match bucket {
                Some(bucket) => query.bind(bucket.0),
                None => query,
            }
    );
    let (mut cases, mut unreadable) = (BTreeMap::new(), BTreeSet::new());
    for row in rows {
        match row.told() {
            Ok(case) => drop(cases.insert((case.message, case.recipient), case)),
            Err(key) => unreadable.extend(key),
        }
    }
    Ok(Stored { cases, unreadable })
}

/// Records the last leg that may be on the wire, where there is a delivery. The bucket as for [`stored`].
///
/// The message is told with each recipient: where the server has it as a value of its own, it takes it for a short one, and
/// may compare each of its deliveries with each recipient.
pub(crate) async fn set_leg(
    tx: &mut Tx,
    bucket: Option<Bucket>,
    keys: &[(Bucket, MessageId, Recipient)],
    leg: Leg,
) -> Result<()> {
    let sql = format!(
        "update deliveries set leg = {{1}}
         where (bucket, message_id, recipient) in (values {{rows}}){within}
         returning message_id, recipient",
        within = within(bucket, 2),
    );
    changed_rows!(
        tx,
        keys,
        3,
        &sql,
        |query, key| query
            .bind(key.0.0)
            .bind(id_bytes(&key.1))
            .bind(number(key.2)),
        after |query| {
            let query = query.bind(leg.number());
            match bucket {
                Some(bucket) => query.bind(bucket.0),
                None => query,
            }
        },
        told |key| -> (Vec<u8>, i64) { (id_bytes(&key.1).to_vec(), number(key.2)) }
    );
    Ok(())
}
