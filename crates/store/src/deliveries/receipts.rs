//! Reports of carriers: responses to submits, and receipts, committed together. Reports of one
//! carrier keep their order.
//!
//! On SQLite all of a report is one transaction. On PostgreSQL the carrier ids come first, by which
//! receipts find their recipients. All recipients are then settled, in one transaction where one
//! may hold them. Receipts that found no recipient come last. A node that dies in between leaves a
//! state that can be resumed. The carrier got no response, the batches are still claimed, and the
//! whole report may be repeated.

mod adopt;
mod park;
mod parked;
pub(crate) mod receipt;
pub(crate) mod report;
pub(crate) mod settle;

pub use receipt::{Receipt, ReceiptStatus};
pub use report::CarrierReport;

use crate::buckets::Buckets;
use crate::deliveries::carrier_ids::{self, Meant, StoreCarrierIds};
use crate::deliveries::settle::Settled;
use database::{Db, Error, Result};
use domain::{Bucket, Recipient};
use park::Park;
use parked::{parked_for, parked_since};
use report::JoinedReport;
use settle::{EmbeddedReport, Item, ReportPart};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::task::JoinSet;

/// A report in the parts that are settled separately.
struct ReportParts {
    all: Vec<ReportPart>,
    /// Places of receipts without a recipient.
    lost: Vec<usize>,
    /// The carriers of receipts with too many candidates.
    unclear: Vec<Arc<str>>,
}

/// The reports of carriers.
#[derive(Clone, Copy)]
pub struct CarrierReports<'s> {
    pub(crate) db: &'s Db,
}

impl CarrierReports<'_> {
    /// Records a report and settles its recipients durably. Returns the places of the receipts that
    /// found no recipient and were parked. Settled recipients are added to `settled`, even if the
    /// rest fails. They stay settled, their callbacks are claimed, and a retry does not find them
    /// again.
    pub async fn commit(
        self,
        report: Arc<CarrierReport>,
        settled: &mut Settled,
    ) -> Result<Vec<usize>> {
        if self.db.is_embedded() {
            let buckets = Buckets::of(self.db);
            let (more, parked) = self.db.change(EmbeddedReport { buckets, report }).await?;
            settled.join(more);
            return Ok(parked);
        }
        let parked = if report.followed().is_empty() {
            Vec::new()
        } else {
            let looked = Db::in_time(async {
                let mut tx = self.db.read().await?;
                parked_for(Buckets::of(self.db), &mut tx, &report).await
            });
            looked.await?
        };
        self.settle_joined(JoinedReport { report, parked }, settled)
            .await
    }

    /// Matches again the receipts parked in a bucket since a time. A receipt can miss its response
    /// if another node stores the response at the same moment. On SQLite that does not happen.
    /// Settled recipients are added as above. If there were too many receipts for one call, it
    /// returns the time up to which they came in.
    pub async fn look_again(
        self,
        report: Arc<CarrierReport>,
        bucket: Bucket,
        since_ms: i64,
        settled: &mut Settled,
    ) -> Result<Option<i64>> {
        if self.db.is_embedded() {
            return Ok(None);
        }
        let (parked, until_ms) = parked_since(self.db, bucket, since_ms).await?;
        if !parked.is_empty() {
            self.settle_joined(JoinedReport { report, parked }, settled)
                .await?;
        }
        Ok(until_ms)
    }

    /// Returns the status of a parked receipt with this id, a final one if there is any.
    pub async fn parked(self, carrier: &str, id: &str) -> Result<Option<ReceiptStatus>> {
        parked::status_under(self.db, Buckets::of(self.db), carrier, id).await
    }

    /// Records a report on PostgreSQL. Returns the places of the parked receipts.
    async fn settle_joined(
        self,
        joined: JoinedReport,
        settled: &mut Settled,
    ) -> Result<Vec<usize>> {
        let joined = Arc::new(joined);
        let report = &joined.report;
        if report.progress.iter().any(|one| !one.submitted.is_empty()) {
            let (buckets, report) = (Buckets::of(self.db), Arc::clone(report));
            self.db.change(StoreCarrierIds { buckets, report }).await?;
        }
        let ReportParts {
            all,
            mut lost,
            unclear,
        } = self.split_report(&joined).await?;
        let mut running = JoinSet::new();
        for part in all {
            let db = self.db.clone();
            running.spawn(async move { db.change(part).await });
        }
        let mut failure = None;
        while let Some(ended) = running.join_next().await {
            match ended.map_err(|_| Error::Closed).flatten() {
                Ok((more, missed)) => {
                    settled.join(more);
                    lost.extend(missed);
                }
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let park = Park::of(Buckets::of(self.db), &joined, &lost);
        settled.unclear.extend(unclear);
        if park.is_empty() {
            return Ok(Vec::new());
        }
        let parking = self.db.change(park).await?;
        settled.unclear.extend(parking.unclear);
        Ok(parking.places)
    }

    /// Splits a report into parts that are settled together, and receipts without a recipient.
    async fn split_report(self, joined: &Arc<JoinedReport>) -> Result<ReportParts> {
        let (report, buckets) = (&joined.report, Buckets::of(self.db));
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let receipts = (0..joined.count()).map(|place| (place, joined.receipt(place)));
            let parts = carrier_ids::look_up(&mut tx, buckets, report.now_ms, receipts).await?;
            let parts = Arc::new(parts);
            let progress = report.progress.iter().enumerate();
            let mut items: Vec<(Bucket, Item)> = progress
                .map(|(place, progress)| (progress.batch.bucket, Item::Progress(place)))
                .collect();
            let (mut unmatched, mut unclear) = (Vec::new(), Vec::new());
            for place in 0..joined.count() {
                let receipt = joined.receipt(place);
                match parts.find(place, receipt) {
                    Meant::Pages([part, ..]) => items.push((part.home, Item::Receipt(place))),
                    Meant::Unclear => unclear.push(Arc::clone(&receipt.carrier)),
                    Meant::Nobody | Meant::Pages([]) => unmatched.push(place),
                }
            }
            let homes = adopt::homes(&mut tx, joined, &unmatched).await?;
            let mut new_homes: HashMap<(&str, Recipient), Bucket> = HashMap::new();
            for progress in &report.progress {
                let batch = &progress.batch;
                let doubted = progress.doubted.iter();
                new_homes.extend(doubted.map(|&to| ((&*batch.carrier, to), batch.bucket)));
            }
            let mut lost = Vec::new();
            for place in unmatched {
                let receipt = joined.receipt(place);
                let home = receipt.recipient.and_then(|recipient| {
                    let known = homes.of(receipt, recipient);
                    known.or_else(|| new_homes.get(&(&*receipt.carrier, recipient)).copied())
                });
                match home {
                    Some(home) => items.push((home, Item::Receipt(place))),
                    None => lost.push(place),
                }
            }
            let all = buckets.split_by_transaction(items, |(bucket, _)| *bucket);
            let part = |items: Vec<(Bucket, Item)>| {
                ReportPart::of(buckets, Arc::clone(joined), &items, Arc::clone(&parts))
            };
            Ok(ReportParts {
                all: all.into_iter().map(part).collect(),
                lost,
                unclear,
            })
        })
        .await
    }
}
