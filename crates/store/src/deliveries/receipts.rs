//! What carriers say: responses to submits and receipts, committed together; those of one carrier in the order they came.
//!
//! On SQLite all of a report is one transaction. On PostgreSQL the parts go first, by which receipts find their way,
//! then all is settled, bucket by bucket where those may lie on several servers, so that money never moves on two at
//! once; and last come the receipts that found nobody. A node that dies in between leaves nothing half done: the
//! carrier was not answered, the batches are still claimed, and all of it may be told again.

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

/// What a receipt says of a page.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ReceiptWord {
    /// Not final: the carrier has it.
    Pending,
    /// Final.
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

    /// What it means for that page of that leg.
    fn event(self, leg: Leg, page: i64) -> DeliveryEvent {
        match self {
            Self::Pending => DeliveryEvent::Acknowledged { leg, page },
            Self::Final(DeliveryStatus::Delivered) => DeliveryEvent::PageDelivered { leg, page },
            Self::Final(status) => DeliveryEvent::Failed { leg, status },
        }
    }
}

/// A receipt, in the terms of the trade.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// Who says it.
    pub carrier: Arc<str>,
    /// The carrier's id of the page, in the form in which responses are kept.
    pub carrier_id: String,
    /// Another id of it, where the receipt names two: the page has either.
    pub other_id: Option<String>,
    /// The number that the message went to, as far as the receipt tells.
    pub recipient: Option<Recipient>,
    /// The sender ID that it came from.
    pub sender: String,
    /// What it says.
    pub word: ReceiptWord,
    /// The carrier's error code.
    pub error: Option<String>,
}

/// What carriers said, and the state of the node that heard it.
#[derive(Clone)]
pub struct CarrierReport {
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// What became of submits.
    pub progress: Vec<Progress>,
    /// Receipts.
    pub receipts: Vec<Receipt>,
    /// Makes second legs.
    pub planner: Planner,
    /// The node that takes fresh callbacks in hand.
    pub node: i64,
    /// Until when they are its own.
    pub claimed_until_ms: i64,
    /// How many it has room for.
    pub callback_room: CallbackRoom,
    /// A number from which parked receipts are counted.
    pub first_number: i64,
}

impl CarrierReport {
    /// What receipts may have come for before: pages whose response has come now, and recipients whose response will not
    /// come any more.
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

/// A report with the parked receipts that are looked at again with it.
struct News {
    report: Arc<CarrierReport>,
    parked: Vec<Parked>,
}

impl News {
    /// How many receipts there are; they are named by their place, those of the report first.
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

/// A report in the portions that are settled apart.
struct Portions {
    all: Vec<Portion>,
    /// Places of receipts that mean nobody.
    lost: Vec<usize>,
    /// The carriers of those that could mean too many.
    unclear: Vec<Arc<str>>,
}

impl Store {
    /// Keeps what carriers said and settles the recipients concerned, durably. Gives the places of the receipts that
    /// found no recipient and were parked. What was settled is added to `settled`, also where the rest fails: it stays
    /// settled, its callbacks are in hand, and the next try finds nothing of it.
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

    /// Looks again at the receipts that were parked since then in that bucket: one that came in on this node while
    /// another kept its response has missed it. On SQLite none has. As above, what was settled is added. Gives until when
    /// they had come in, where there were too many for one look.
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

    /// Keeps what was told, on PostgreSQL. Gives the places of the receipts that were parked.
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

    /// What is settled together, and the receipts that mean nobody.
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
