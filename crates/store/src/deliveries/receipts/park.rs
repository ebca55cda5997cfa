//! The change that parks receipts.

use super::receipt::Receipt;
use super::report::JoinedReport;
use crate::buckets::Buckets;
use crate::rows::number;
use database::{Change, Result, Tx, bulk, by_whole_keys, value};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Maximum receipts parked under one id. A carrier that gives every page one id could otherwise
/// make each response read any number of them.
const MAX_PARKED_BY_ID: i64 = 5_000;

/// A change that parks receipts without a recipient, and removes parked ones that found theirs.
pub(super) struct Park {
    buckets: Buckets,
    joined: Arc<JoinedReport>,
    /// Places of the receipts to park.
    places: Vec<usize>,
    /// Places of the parked receipts to remove.
    found: Vec<usize>,
}

impl Park {
    /// Returns the change for a report whose receipts in these places found no recipient.
    pub(super) fn of(buckets: Buckets, joined: &Arc<JoinedReport>, lost: &[usize]) -> Self {
        let fresh = joined.report.receipts.len();
        let lost: HashSet<usize> = lost.iter().copied().collect();
        let mut places: Vec<usize> = lost
            .iter()
            .copied()
            .filter(|&place| place < fresh)
            .collect();
        places.sort_unstable();
        let found = (fresh..joined.count())
            .filter(|place| !lost.contains(place))
            .map(|place| place - fresh)
            .collect();
        Self {
            buckets,
            joined: Arc::clone(joined),
            places,
            found,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.found.is_empty()
    }

    /// Returns the ids under which no more receipts can wait.
    async fn full<'r>(&self, tx: &mut Tx, receipts: &[&'r Receipt]) -> Result<HashSet<&'r str>> {
        let buckets = self.buckets;
        let all = receipts
            .iter()
            .flat_map(|receipt| ids(receipt).map(|(id, _)| (&*receipt.carrier, id)));
        let all: BTreeSet<(&str, &str)> = all.collect();
        let placed: Vec<(i64, (&str, &str))> = (0..).zip(all).collect();
        let full: Vec<(i64,)> = tx
            .fetch_each(
                bulk(
                    "with v (place, bucket, carrier, carrier_id) as (values ($1, $2, $3, $4))
             select v.place from v join parked_receipts p
                 on p.bucket = v.bucket and p.carrier = v.carrier and p.carrier_id = v.carrier_id
             group by v.place having count(*) >= $5",
                    "with v (place, bucket, carrier, carrier_id) as (select *
             from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]))
             select v.place from v join parked_receipts p
                 on p.bucket = v.bucket and p.carrier = v.carrier and p.carrier_id = v.carrier_id
             group by v.place having count(*) >= $5",
                )
                .rows(&placed, |row| {
                    let (place, (carrier, id)) = row;
                    [
                        value(*place),
                        value(buckets.carrier_id(carrier, id).0),
                        value(*carrier),
                        value(*id),
                    ]
                })
                .bind(MAX_PARKED_BY_ID),
            )
            .await?;
        let full = full.into_iter();
        let full = full.filter_map(|(place,)| placed.get(usize::try_from(place).ok()?));
        Ok(full.map(|(_, (_, id))| *id).collect())
    }

    /// Parks receipts, each with its number and under one of its ids.
    async fn insert(&self, tx: &mut Tx, numbered: &[Numbered<'_>]) -> Result<()> {
        let (report, buckets) = (&self.joined.report, self.buckets);
        tx.execute_each(
            bulk(
                "insert into parked_receipts (bucket, carrier, carrier_id,
                 received_at_ms, number, recipient, sender, state, error, other_id, raw)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict do nothing",
                "insert into parked_receipts (bucket, carrier, carrier_id,
                 received_at_ms, number, recipient, sender, state, error, other_id, raw)
             select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[],
                 $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[],
                 $10::text[], $11::bytea[]) on conflict do nothing",
            )
            .rows(numbered, |row| {
                let (count, receipt, (id, other)) = row;
                [
                    value(buckets.carrier_id(&receipt.carrier, id).0),
                    value(&*receipt.carrier),
                    value(*id),
                    value(report.now_ms),
                    value(*count),
                    value(receipt.recipient.map_or(0, number)),
                    value(&receipt.sender),
                    value(receipt.status.as_str()),
                    value(&receipt.error),
                    value(*other),
                    value(receipt.raw.as_deref()),
                ]
            }),
        )
        .await?;
        Ok(())
    }

    /// Removes the parked receipts that found their recipients.
    async fn remove_found(&self, tx: &mut Tx) -> Result<()> {
        let buckets = self.buckets;
        let found = self.found.iter();
        let found = found.filter_map(|&place| self.joined.parked.get(place));
        let found: Vec<_> = found
            .flat_map(|parked| ids(&parked.receipt).map(move |(id, _)| (parked, id)))
            .collect();
        tx.execute_each(
            by_whole_keys(
                "delete from parked_receipts
             where bucket = $1 and carrier = $2 and carrier_id = $3 and received_at_ms = $4
                 and number = $5",
                "delete from parked_receipts
             where ",
                &[
                    "bucket",
                    "carrier",
                    "carrier_id",
                    "received_at_ms",
                    "number",
                ],
                "",
            )
            .rows(&found, |row| {
                let (parked, id) = row;
                [
                    value(buckets.carrier_id(&parked.receipt.carrier, id).0),
                    value(&*parked.receipt.carrier),
                    value(*id),
                    value(parked.received_at_ms),
                    value(parked.number),
                ]
            }),
        )
        .await?;
        Ok(())
    }
}

/// A receipt with its number, one of its ids, and its other id.
type Numbered<'r> = (i64, &'r Receipt, (&'r str, Option<&'r str>));

/// The result of parking.
#[derive(Debug, Default)]
pub(super) struct Parking {
    /// Places of the receipts that are parked now.
    pub(super) places: Vec<usize>,
    /// The carriers of receipts that are not parked, because too many wait under their id.
    pub(super) unclear: Vec<Arc<str>>,
}

impl Change for Park {
    type Output = Parking;

    async fn apply(&self, tx: &mut Tx) -> Result<Parking> {
        let report = &self.joined.report;
        let receipts: Vec<&Receipt> = self
            .places
            .iter()
            .map(|&place| self.joined.receipt(place))
            .collect();
        let full = self.full(tx, &receipts).await?;
        let mut parking = Parking::default();
        let mut numbered = Vec::with_capacity(receipts.len());
        for (count, (&place, receipt)) in
            (report.first_number..).zip(self.places.iter().zip(receipts))
        {
            if ids(receipt).any(|(id, _)| full.contains(id)) {
                parking.unclear.push(Arc::clone(&receipt.carrier));
            } else {
                parking.places.push(place);
                numbered.extend(ids(receipt).map(|ids| (count, receipt, ids)));
            }
        }
        self.insert(tx, &numbered).await?;
        self.remove_found(tx).await?;
        Ok(parking)
    }
}

/// Returns the ids under which a receipt waits, each with the other one.
fn ids(receipt: &Receipt) -> impl Iterator<Item = (&str, Option<&str>)> {
    let (id, other) = (receipt.carrier_id.as_str(), receipt.other_id.as_deref());
    let first = std::iter::once((id, other));
    first.chain(other.map(|other| (other, Some(id))))
}
