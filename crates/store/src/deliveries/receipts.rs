//! Reports of carriers: responses to submits, and receipts, committed together. Reports of one
//! carrier keep their order.
//!
//! On SQLite all of a report is one transaction. On PostgreSQL the carrier ids come first, by which
//! receipts find their recipients. All recipients are then settled, in one transaction where one may
//! hold them. Receipts that found no recipient come last. A node that dies in between leaves a state
//! that can be resumed. The carrier got no response, the batches are still claimed, and the whole
//! report may be repeated.

mod adopt;
mod parked;
mod settle;

use crate::Store;
use crate::batches::Progress;
use crate::deliveries::carrier_ids::{self, Matched, Meant, StoreCarrierIds};
use crate::deliveries::settle::{CallbackRoom, Planner, SettleContext, Settled};
use database::{Db, Error, Result};
use domain::{Bucket, DeliveryEvent, DeliveryStatus, Leg, Recipient};
use parked::{Park, Parked};
use settle::{EmbeddedReport, Item, ReportPart};
pub(crate) use settle::{cancelled, known};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The status of a page in a receipt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ReceiptStatus {
    /// An intermediate status: the carrier has the page.
    Pending,
    /// A final status.
    Final(DeliveryStatus),
}

impl ReceiptStatus {
    fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Final(status) => status.as_str(),
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "pending" => Some(Self::Pending),
            name => DeliveryStatus::from_name(name).map(Self::Final),
        }
    }

    /// Returns the event that it means for this page of this leg.
    fn event(self, leg: Leg, page: i64) -> DeliveryEvent {
        match self {
            Self::Pending => DeliveryEvent::Acknowledged { leg, page },
            Self::Final(DeliveryStatus::Delivered) => DeliveryEvent::PageDelivered { leg, page },
            Self::Final(status) => DeliveryEvent::Failed { leg, status },
        }
    }
}

/// A receipt in the terms of the domain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// The carrier that sent it.
    pub carrier: Arc<str>,
    /// The carrier's id of the page, in the form that is stored for responses.
    pub carrier_id: String,
    /// A second id, if the receipt names two. The page has either.
    pub other_id: Option<String>,
    /// The recipient's number, as far as the receipt has one.
    pub recipient: Option<Recipient>,
    /// The sender ID of the message.
    pub sender: String,
    /// The status.
    pub status: ReceiptStatus,
    /// The carrier's error code.
    pub error: Option<String>,
}

/// A report of a carrier, with the state of the node that received it.
#[derive(Clone)]
pub struct CarrierReport {
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// Results of submits.
    pub progress: Vec<Progress>,
    /// Receipts.
    pub receipts: Vec<Receipt>,
    /// The planner of second legs.
    pub planner: Planner,
    /// The node that claims fresh callbacks.
    pub node: i64,
    /// The end of that claim, Unix milliseconds.
    pub claimed_until_ms: i64,
    /// Fresh callbacks for which the node has room.
    pub callback_room: CallbackRoom,
    /// The first number for parked receipts.
    pub first_number: i64,
}

impl CarrierReport {
    /// Returns the progress whose receipts may have come before. It covers pages with a response
    /// now, and recipients that will get none any more.
    fn followed(&self) -> Vec<&Progress> {
        let is_followed = |one: &&Progress| !one.submitted.is_empty() || !one.doubted.is_empty();
        self.progress.iter().filter(is_followed).collect()
    }

    fn context(&self) -> SettleContext {
        SettleContext {
            now_ms: self.now_ms,
            planner: self.planner.clone(),
            node: self.node,
            claimed_until_ms: self.claimed_until_ms,
            callback_room: self.callback_room,
        }
    }
}

/// A report, with the parked receipts that are matched again with it.
struct JoinedReport {
    report: Arc<CarrierReport>,
    parked: Vec<Parked>,
}

impl JoinedReport {
    /// Returns the number of receipts. They are identified by their place, first the ones of the
    /// report.
    fn count(&self) -> usize {
        self.report.receipts.len() + self.parked.len()
    }

    fn receipt(&self, place: usize) -> &Receipt {
        let fresh = &self.report.receipts;
        fresh
            .get(place)
            .unwrap_or_else(|| &self.parked[place - fresh.len()].receipt)
    }
}

/// A report in the parts that are settled separately.
struct ReportParts {
    all: Vec<ReportPart>,
    /// Places of receipts without a recipient.
    lost: Vec<usize>,
    /// The carriers of receipts with too many candidates.
    unclear: Vec<Arc<str>>,
}

impl Store {
    /// Records a report and settles its recipients durably. Returns the places of the receipts that
    /// found no recipient and were parked. Settled recipients are added to `settled`, even if the
    /// rest fails. They stay settled, their callbacks are claimed, and a retry does not find them
    /// again.
    pub async fn report(
        &self,
        report: Arc<CarrierReport>,
        settled: &mut Settled,
    ) -> Result<Vec<usize>> {
        if self.db.is_embedded() {
            let store = self.clone();
            let (more, parked) = self.db.change(EmbeddedReport { store, report }).await?;
            settled.join(more);
            return Ok(parked);
        }
        let parked = if report.followed().is_empty() {
            Vec::new()
        } else {
            let looked = Db::in_time(async {
                let mut tx = self.db.read().await?;
                self.parked_for(&mut tx, &report).await
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
        &self,
        report: Arc<CarrierReport>,
        bucket: Bucket,
        since_ms: i64,
        settled: &mut Settled,
    ) -> Result<Option<i64>> {
        if self.db.is_embedded() {
            return Ok(None);
        }
        let (parked, until_ms) = self.parked_since(bucket, since_ms).await?;
        if !parked.is_empty() {
            self.settle_joined(JoinedReport { report, parked }, settled)
                .await?;
        }
        Ok(until_ms)
    }

    /// Records a report on PostgreSQL. Returns the places of the parked receipts.
    async fn settle_joined(
        &self,
        joined: JoinedReport,
        settled: &mut Settled,
    ) -> Result<Vec<usize>> {
        let joined = Arc::new(joined);
        let report = &joined.report;
        if report.progress.iter().any(|one| !one.submitted.is_empty()) {
            let (store, report) = (self.clone(), Arc::clone(report));
            self.db.change(StoreCarrierIds { store, report }).await?;
        }
        let ReportParts {
            all,
            mut lost,
            unclear,
        } = self.split_report(&joined).await?;
        let mut running = JoinSet::new();
        for part in all {
            let store = self.clone();
            running.spawn(async move { store.db.change(part).await });
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
        let park = Park::of(self, &joined, &lost);
        settled.unclear.extend(unclear);
        if park.is_empty() {
            return Ok(Vec::new());
        }
        let parking = self.db.change(park).await?;
        settled.unclear.extend(parking.unclear);
        Ok(parking.places)
    }

    /// Splits a report into parts that are settled together, and receipts without a recipient.
    async fn split_report(&self, joined: &Arc<JoinedReport>) -> Result<ReportParts> {
        let report = &joined.report;
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let receipts = (0..joined.count()).map(|place| (place, joined.receipt(place)));
            let parts = carrier_ids::look_up(&mut tx, self, report.now_ms, receipts).await?;
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
            let all = self.split_by_transaction(items, |(bucket, _)| *bucket);
            let part = |items: Vec<(Bucket, Item)>| {
                ReportPart::of(self.clone(), Arc::clone(joined), &items, Arc::clone(&parts))
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
