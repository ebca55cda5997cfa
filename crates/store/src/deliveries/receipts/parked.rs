//! Parked receipts: they overtook their response and wait for it in the database.

use super::{CarrierReport, JoinedReport, Receipt, ReceiptStatus};
use crate::deliveries::carrier_ids::{NamedPage, submitted};
use crate::rows::{bucket_of_id, id_bytes, named, number, recipient};
use crate::{Progress, Store};
use database::{Change, Result, Sql, Tx, bulk, by_whole_keys, query, value};
use domain::Bucket;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Receipts that are matched again in one call at most.
const MAX_AGAIN: i64 = 2_000;

/// Receipts parked under one id at most. A carrier that gives every page one id could otherwise
/// make each response read any number of them.
const MAX_PARKED_BY_ID: i64 = 5_000;

/// A parked receipt.
pub(super) struct Parked {
    received_at_ms: i64,
    number: i64,
    pub(super) receipt: Receipt,
}

struct ParkedRow {
    bucket: i16,
    carrier: String,
    carrier_id: String,
    received_at_ms: i64,
    number: i64,
    recipient: i64,
    sender: String,
    state: String,
    error: Option<String>,
    other_id: Option<String>,
}

database::from_row!(ParkedRow {
    bucket,
    carrier,
    carrier_id,
    received_at_ms,
    number,
    recipient,
    sender,
    state,
    error,
    other_id
});

impl ParkedRow {
    fn parked(self) -> Result<Parked> {
        Ok(Parked {
            received_at_ms: self.received_at_ms,
            number: self.number,
            receipt: Receipt {
                carrier: self.carrier.into(),
                carrier_id: self.carrier_id,
                other_id: self.other_id,
                recipient: (self.recipient != 0).then(|| recipient(self.recipient)),
                sender: self.sender,
                status: named(ReceiptStatus::from_name, &self.state)?,
                error: self.error,
            },
        })
    }
}

/// Returns each receipt once, in order of arrival; of two that disagree the first counts. A receipt
/// with two ids is parked under both and counts once.
fn parked_in_order(mut rows: Vec<ParkedRow>) -> Result<Vec<Parked>> {
    let moment = |row: &ParkedRow| (row.received_at_ms, row.number, row.bucket);
    rows.sort_unstable_by_key(moment);
    rows.dedup_by(|one, first| {
        let is_twin = one.other_id.as_ref() == Some(&first.carrier_id)
            && first.other_id.as_ref() == Some(&one.carrier_id);
        (one.received_at_ms, one.number) == (first.received_at_ms, first.number)
            && (one.bucket == first.bucket || is_twin)
    });
    rows.into_iter().map(ParkedRow::parked).collect()
}

impl Store {
    /// Returns the parked receipts of pages whose response is here now, and of recipients whose
    /// response will not come.
    pub(super) async fn parked_for(
        &self,
        tx: &mut Tx,
        report: &CarrierReport,
    ) -> Result<Vec<Parked>> {
        let mut concerned = report.followed();
        if concerned.is_empty() {
            return Ok(Vec::new());
        }
        let parked = self.with_parked(tx, &concerned).await?;
        concerned.retain(|one| parked.contains(&*one.batch.carrier));
        let mut rows = self.parked_under_ids(tx, &concerned, report.now_ms).await?;
        for one in concerned.into_iter().filter(|one| !one.doubted.is_empty()) {
            rows.extend(self.parked_before_doubt(tx, one).await?);
        }
        parked_in_order(rows)
    }

    /// Returns the receipts parked in a bucket since a time, the oldest first. If there may be
    /// more, it also returns the time up to which they came in.
    pub(super) async fn parked_since(
        &self,
        bucket: Bucket,
        since_ms: i64,
    ) -> Result<(Vec<Parked>, Option<i64>)> {
        let rows: Vec<ParkedRow> = self.db.fetch_all(query("select bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state, error, other_id
                 from parked_receipts where bucket = $1 and received_at_ms >= $2
                 order by received_at_ms, number limit $3")
            .bind(bucket.0)
            .bind(since_ms)
            .bind(MAX_AGAIN)).await?;
        let is_full = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= MAX_AGAIN;
        let last = rows.last().map(|row| row.received_at_ms);
        Ok((parked_in_order(rows)?, last.filter(|_| is_full)))
    }

    /// Returns the carriers that have parked receipts at all.
    async fn with_parked(&self, tx: &mut Tx, all: &[&Progress]) -> Result<HashSet<String>> {
        let carriers: HashSet<&str> = all.iter().map(|one| &*one.batch.carrier).collect();
        let mut carriers: Vec<&str> = carriers.into_iter().collect();
        carriers.sort_unstable();
        let one = Sql {
            sqlite: "select carrier from parked_receipts
                 where bucket = 0 and carrier = $1 limit 1",
            postgres: "select carrier from parked_receipts
                 where bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                     and carrier = $1 limit 1",
        };
        let many = "select v.carrier from unnest($1::text[]) as v (carrier) where exists (
                 select 1 from parked_receipts as parked
                 where bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                     and parked.carrier = v.carrier)";
        let ask = bulk(one, many).rows(&carriers, |carrier| [value(*carrier)]);
        let found: Vec<(String,)> = tx.fetch_each(ask).await?;
        Ok(found.into_iter().map(|(carrier,)| carrier).collect())
    }

    async fn parked_under_ids(
        &self,
        tx: &mut Tx,
        all: &[&Progress],
        now_ms: i64,
    ) -> Result<Vec<ParkedRow>> {
        let embedded = self.db.is_embedded();
        let named: Vec<NamedPage<'_>> = all.iter().flat_map(|one| submitted(one, now_ms)).collect();
        let mut rows: Vec<ParkedRow> = tx.fetch_each(by_whole_keys("select bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state, error, other_id
             from parked_receipts where bucket = $1 and carrier = $2 and carrier_id = $3", "select bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state, error, other_id
             from parked_receipts where ", &["bucket", "carrier", "carrier_id"], "").rows(&named, |named| [value(bucket_of_id(named.carrier, named.id, embedded).0), value(named.carrier), value(named.id)])).await?;
        // Receipts with other numbers mean none of these pages, even under the same id.
        let recipients: HashSet<i64> = named
            .iter()
            .map(|named| number(named.part.recipient))
            .collect();
        rows.retain(|row| row.recipient == 0 || recipients.contains(&row.recipient));
        Ok(rows)
    }

    /// Returns the receipts that came after the message was due and before its recipient was in
    /// doubt. A lost response is given up after a minute, and most receipts are faster.
    async fn parked_before_doubt(&self, tx: &mut Tx, doubted: &Progress) -> Result<Vec<ParkedRow>> {
        let batch = &doubted.batch;
        let sender: Option<String> = tx
            .fetch_optional(
                query("select sender from messages where bucket = $1 and message_id = $2")
                    .bind(batch.bucket.0)
                    .bind(id_bytes(&batch.message)),
            )
            .await?;
        let one = Sql {
            sqlite: "select bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state, error,
                     other_id
                 from parked_receipts
                 where recipient = $1 and bucket = 0 and carrier = $2
                     and received_at_ms >= $3 and lower(sender) = lower($4)",
            postgres: "select bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state, error,
                     other_id
                 from parked_receipts
                 where recipient = $1
                     and bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                     and carrier = $2 and received_at_ms >= $3 and lower(sender) = lower($4)",
        };
        let many = "select bucket, carrier, carrier_id, received_at_ms, number, p.recipient, sender, state, error,
                 other_id
             from unnest($1::bigint[]) as v (recipient) cross join parked_receipts p
             where p.recipient = v.recipient
                 and bucket in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
                 and carrier = $2 and received_at_ms >= $3 and lower(sender) = lower($4)";
        let ask = bulk(one, many).rows(&doubted.doubted, |recipient| [value(number(*recipient))]);
        let ask = ask
            .bind(&*batch.carrier)
            .bind(batch.message_due_at_ms)
            .bind(sender.as_deref());
        tx.fetch_each(ask).await
    }
}

/// A change that parks receipts without a recipient, and removes parked ones that found theirs.
pub(super) struct Park {
    store: Store,
    joined: Arc<JoinedReport>,
    /// Places of the receipts to park.
    places: Vec<usize>,
    /// Places of the parked receipts to remove.
    found: Vec<usize>,
}

impl Park {
    /// Returns the change for a report whose receipts in these places found no recipient.
    pub(super) fn of(store: &Store, joined: &Arc<JoinedReport>, lost: &[usize]) -> Self {
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
            store: store.clone(),
            joined: Arc::clone(joined),
            places,
            found,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty() && self.found.is_empty()
    }
}

/// The result of parking.
#[derive(Debug, Default)]
pub(super) struct Parking {
    /// Places of the receipts that are parked now.
    pub(super) places: Vec<usize>,
    /// The carriers of receipts that are not parked, because too many wait under their id.
    pub(super) unclear: Vec<Arc<str>>,
}

impl Park {
    /// Returns the ids under which no more receipts can wait.
    async fn full<'r>(&self, tx: &mut Tx, receipts: &[&'r Receipt]) -> Result<HashSet<&'r str>> {
        let embedded = self.store.db.is_embedded();
        let all = receipts
            .iter()
            .flat_map(|receipt| ids(receipt).map(|(id, _)| (&*receipt.carrier, id)));
        let all: BTreeSet<(&str, &str)> = all.collect();
        let placed: Vec<(i64, (&str, &str))> = (0..).zip(all).collect();
        let full: Vec<(i64,)> = tx.fetch_each(bulk("with v (place, bucket, carrier, carrier_id) as (values ($1, $2, $3, $4))
             select v.place from v join parked_receipts p
                 on p.bucket = v.bucket and p.carrier = v.carrier and p.carrier_id = v.carrier_id
             group by v.place having count(*) >= $5", "with v (place, bucket, carrier, carrier_id) as (select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]))
             select v.place from v join parked_receipts p
                 on p.bucket = v.bucket and p.carrier = v.carrier and p.carrier_id = v.carrier_id
             group by v.place having count(*) >= $5").rows(&placed, |row| {
                let (place, (carrier, id)) = row;
                [value(*place), value(bucket_of_id(carrier, id, embedded).0), value(*carrier), value(*id)]
            }).bind(MAX_PARKED_BY_ID)).await?;
        let full = full.into_iter();
        let full = full.filter_map(|(place,)| placed.get(usize::try_from(place).ok()?));
        Ok(full.map(|(_, (_, id))| *id).collect())
    }
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
        let embedded = self.store.db.is_embedded();
        tx.execute_each(bulk("insert into parked_receipts (bucket, carrier, carrier_id, received_at_ms, number, recipient,
                 sender, state, error, other_id)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing", "insert into parked_receipts (bucket, carrier, carrier_id, received_at_ms, number, recipient,
                 sender, state, error, other_id)
             select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[]) on conflict do nothing").rows(&numbered, |row| {
                let (count, receipt, (id, other)) = row;
                [value(bucket_of_id(&receipt.carrier, id, embedded).0), value(&*receipt.carrier), value(*id), value(report.now_ms), value(*count), value(receipt.recipient.map_or(0, number)), value(&receipt.sender), value(receipt.status.as_str()), value(&receipt.error), value(*other)]
            })).await?;
        let found = self.found.iter();
        let found = found.filter_map(|&place| self.joined.parked.get(place));
        let found: Vec<_> = found
            .flat_map(|parked| ids(&parked.receipt).map(move |(id, _)| (parked, id)))
            .collect();
        tx.execute_each(by_whole_keys("delete from parked_receipts
             where bucket = $1 and carrier = $2 and carrier_id = $3 and received_at_ms = $4 and number = $5", "delete from parked_receipts
             where ", &["bucket", "carrier", "carrier_id", "received_at_ms", "number"], "").rows(&found, |row| {
                let (parked, id) = row;
                [value(bucket_of_id(&parked.receipt.carrier, id, embedded).0), value(&*parked.receipt.carrier), value(*id), value(parked.received_at_ms), value(parked.number)]
            })).await?;
        Ok(parking)
    }
}

/// Returns the ids under which a receipt waits, each with the other one.
fn ids(receipt: &Receipt) -> impl Iterator<Item = (&str, Option<&str>)> {
    let (id, other) = (receipt.carrier_id.as_str(), receipt.other_id.as_deref());
    let first = std::iter::once((id, other));
    first.chain(other.map(|other| (other, Some(id))))
}
