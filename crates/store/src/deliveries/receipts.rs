//! Reports of carriers: responses to submits, and receipts, committed together. Reports of one
//! carrier keep their order.
//!
//! On SQLite all of a report is one transaction. On PostgreSQL the carrier ids come first, by which
//! receipts find their recipients. All recipients are then settled, bucket by bucket if buckets may
//! lie on several servers, so that money never moves on two at once. Receipts that found no
//! recipient come last. A node that dies in between leaves a state that can be resumed. The carrier
//! got no response, the batches are still claimed, and the whole report may be repeated.

mod adopt;
mod parked;
mod settle;

use crate::Store;
use crate::batches::Progress;
use crate::deliveries::carrier_ids::{self, KeepParts, Matched, Meant};
use crate::deliveries::settle::{CallbackRoom, Planner, Settled, Terrain};
use database::{Db, Error, Result};
use domain::{Bucket, DeliveryEvent, DeliveryStatus, Leg, Recipient};
use parked::{Park, Parked};
use settle::{Portion, Whole};
pub(crate) use settle::{cancelled, known};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::task::JoinSet;

/// The status of a page in a receipt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ReceiptWord {
    /// An intermediate status: the carrier has the page.
    Pending,
    /// A final status.
    Final(DeliveryStatus),
}

impl ReceiptWord {
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
    pub word: ReceiptWord,
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

    fn terrain(&self) -> Terrain {
        Terrain {
            now_ms: self.now_ms,
            planner: self.planner.clone(),
            node: self.node,
            claimed_until_ms: self.claimed_until_ms,
            callback_room: self.callback_room,
        }
    }
}

/// A report, with the parked receipts that are matched again with it.
struct News {
    report: Arc<CarrierReport>,
    parked: Vec<Parked>,
}

impl News {
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

/// A report in the portions that are settled separately.
struct Portions {
    all: Vec<Portion>,
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
            let (more, parked) = self.db.change(Whole { store, report }).await?;
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
        self.hear(News { report, parked }, settled).await
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
            self.hear(News { report, parked }, settled).await?;
        }
        Ok(until_ms)
    }

    /// Records a report on PostgreSQL. Returns the places of the parked receipts.
    async fn hear(&self, news: News, settled: &mut Settled) -> Result<Vec<usize>> {
        let news = Arc::new(news);
        let report = &news.report;
        if report.progress.iter().any(|one| !one.submitted.is_empty()) {
            let (store, report) = (self.clone(), Arc::clone(report));
            self.db.change(KeepParts { store, report }).await?;
        }
        let Portions {
            all,
            mut lost,
            unclear,
        } = self.portions(&news).await?;
        let mut running = JoinSet::new();
        for portion in all {
            let store = self.clone();
            running.spawn(async move { store.db.change(portion).await });
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
        let park = Park::of(self, &news, &lost);
        settled.unclear.extend(unclear);
        if park.is_empty() {
            return Ok(Vec::new());
        }
        let parking = self.db.change(park).await?;
        settled.unclear.extend(parking.unclear);
        Ok(parking.places)
    }

    /// Splits a report into portions that are settled together, and receipts without a recipient.
    async fn portions(&self, news: &Arc<News>) -> Result<Portions> {
        let report = &news.report;
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let receipts = (0..news.count()).map(|place| (place, news.receipt(place)));
            let parts = carrier_ids::look_up(&mut tx, self, report.now_ms, receipts).await?;
            let parts = Arc::new(parts);
            let mut portions: BTreeMap<Option<Bucket>, Portion> = BTreeMap::new();
            let new =
                |bucket| Portion::of(self.clone(), Arc::clone(news), bucket, Arc::clone(&parts));
            for (index, progress) in report.progress.iter().enumerate() {
                let bucket = self.bound(progress.batch.bucket);
                let portion = portions.entry(bucket).or_insert_with(|| new(bucket));
                portion.progress.push(index);
            }
            let (mut unmatched, mut unclear) = (Vec::new(), Vec::new());
            for place in 0..news.count() {
                let receipt = news.receipt(place);
                match parts.find(place, receipt) {
                    Meant::Pages([part, ..]) => {
                        let bucket = self.bound(part.home);
                        let portion = portions.entry(bucket).or_insert_with(|| new(bucket));
                        portion.receipts.push(place);
                    }
                    Meant::Unclear => unclear.push(Arc::clone(&receipt.carrier)),
                    Meant::Nobody | Meant::Pages([]) => unmatched.push(place),
                }
            }
            let homes = adopt::homes(&mut tx, news, &unmatched).await?;
            let mut new_homes: HashMap<(&str, Recipient), Bucket> = HashMap::new();
            for progress in &report.progress {
                let batch = &progress.batch;
                let doubted = progress.doubted.iter();
                new_homes.extend(doubted.map(|&to| ((&*batch.carrier, to), batch.bucket)));
            }
            let mut lost = Vec::new();
            for place in unmatched {
                let receipt = news.receipt(place);
                let home = receipt.recipient.and_then(|recipient| {
                    let known = homes.of(receipt, recipient);
                    known.or_else(|| new_homes.get(&(&*receipt.carrier, recipient)).copied())
                });
                match home {
                    Some(home) => {
                        let bucket = self.bound(home);
                        let portion = portions.entry(bucket).or_insert_with(|| new(bucket));
                        portion.receipts.push(place);
                    }
                    None => lost.push(place),
                }
            }
            Ok(Portions {
                all: portions.into_values().collect(),
                lost,
                unclear,
            })
        })
        .await
    }
}
