//! What a carrier says: responses to submits and receipts, committed together in the order they came.

mod adopt;
mod parked;

use crate::batches::{self, Batch, Progress};
use crate::db::{Change, Tx};
use crate::deliveries::stored;
use crate::error::Result;
use crate::settle::{self, Case, Planner, Settled, Settling, Terrain};
use crate::{Store, parts};
use domain::{Delivery, DeliveryEvent, DeliveryStatus, MessageId, Recipient};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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

    /// What it means for a page of that leg.
    fn event(self, leg: i64) -> DeliveryEvent {
        match self {
            Self::Pending => DeliveryEvent::Acknowledged,
            Self::Final(DeliveryStatus::Delivered) => DeliveryEvent::PageDelivered { leg },
            Self::Final(status) => DeliveryEvent::Failed { leg, status },
        }
    }
}

/// The word for a page that reached its phone.
const DELIVERED: ReceiptWord = ReceiptWord::Final(DeliveryStatus::Delivered);

/// A receipt, in the terms of the trade.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// The carrier's id of the page, in the form in which responses are kept.
    pub carrier_id: String,
    /// The number that the message went to, as far as the receipt tells.
    pub recipient: Option<Recipient>,
    /// The sender ID that it came from.
    pub sender: String,
    /// What it says.
    pub word: ReceiptWord,
    /// The carrier's error code.
    pub error: Option<String>,
}

struct Report {
    store: Store,
    report: Arc<CarrierReport>,
}

/// What a carrier said, and the state of the node that heard it.
pub struct CarrierReport {
    /// Which carrier.
    pub carrier: Arc<str>,
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
    pub callback_room: usize,
    /// A number from which parked receipts are counted.
    pub first_number: i64,
}

impl Store {
    /// Keeps what a carrier said and settles the recipients concerned, in one durable commit. Gives what was
    /// settled and how many receipts found no recipient and were parked.
    pub async fn report(&self, report: Arc<CarrierReport>) -> Result<(Settled, usize)> {
        self.db
            .change(Report {
                store: self.clone(),
                report,
            })
            .await
    }
}

impl Change for Report {
    type Output = (Settled, usize);

    async fn apply(&self, tx: &mut Tx) -> Result<(Settled, usize)> {
        let mut settled = self.progressed(tx).await?;
        let unparked = self.unpark(tx).await?;
        let receipts: Vec<&Receipt> = self.report.receipts.iter().chain(&unparked).collect();
        let (more, parked) = self.received(tx, &receipts).await?;
        settled.join(more);
        Ok((settled, parked))
    }
}

impl Report {
    fn terrain(&self) -> Terrain {
        Terrain {
            now_ms: self.report.now_ms,
            planner: self.report.planner.clone(),
            node: self.report.node,
            claimed_until_ms: self.report.claimed_until_ms,
            callback_room: self.report.callback_room,
        }
    }

    /// Accounts for recipients of claimed batches.
    async fn progressed(&self, tx: &mut Tx) -> Result<Settled> {
        if self.report.progress.is_empty() {
            return Ok(Settled::default());
        }
        let fresh = self
            .report
            .progress
            .iter()
            .flat_map(cases)
            .collect::<Vec<_>>();
        let messages = settle::messages(tx, &fresh).await?;
        let cases = self.known(tx, fresh, &messages).await?;
        let mut settled =
            settle::settle(tx, &self.store, &self.terrain(), cases, &messages).await?;
        self.keep_parts(tx).await?;
        let (done, open): (Vec<&Progress>, Vec<&Progress>) = self
            .report
            .progress
            .iter()
            .partition(|progress| progress.remaining.is_empty());
        batches::delete(
            tx,
            &done
                .iter()
                .map(|progress| &*progress.batch)
                .collect::<Vec<_>>(),
        )
        .await?;
        let open: Vec<(&Batch, &[Recipient])> = open
            .iter()
            .map(|progress| (&*progress.batch, &progress.remaining[..]))
            .collect();
        batches::shrink(tx, &open).await?;
        let again: Vec<&Batch> = self
            .report
            .progress
            .iter()
            .flat_map(|progress| &progress.again)
            .collect();
        batches::insert(tx, &again).await?;
        settled.work.extend(
            again
                .iter()
                .map(|batch| (batch.carrier.clone(), batch.due_at_ms)),
        );
        Ok(settled)
    }

    /// Gives cases that may have a delivery the one that is stored. Two legs of one recipient may be in hand
    /// at once: what is told of both becomes one case.
    async fn known(
        &self,
        tx: &mut Tx,
        cases: Vec<Case>,
        messages: &HashMap<MessageId, Settling>,
    ) -> Result<Vec<Case>> {
        let of_two_legs = |case: &Case| {
            messages
                .get(&case.message)
                .is_some_and(|message| message.terms.two_legs)
        };
        let (known, mut all): (Vec<Case>, Vec<Case>) = cases
            .into_iter()
            .partition(|case| case.stored || of_two_legs(case));
        if known.is_empty() {
            return Ok(all);
        }
        let mut known_once: HashMap<(MessageId, Recipient), Case> = HashMap::new();
        for case in known {
            match known_once.entry((case.message, case.recipient)) {
                Entry::Vacant(entry) => drop(entry.insert(case)),
                Entry::Occupied(mut entry) => {
                    let first = entry.get_mut();
                    first.events.extend(case.events);
                    first.carrier = case.carrier;
                    first.error = case.error.or_else(|| first.error.take());
                }
            }
        }
        let keys: Vec<_> = known_once
            .values()
            .map(|case| (case.bucket, case.message, case.recipient))
            .collect();
        let mut stored = stored(tx, &keys).await?;
        for case in known_once.into_values() {
            all.push(match stored.remove(&(case.message, case.recipient)) {
                Some(found) => Case {
                    carrier: case.carrier,
                    error: case.error,
                    events: case.events,
                    ..found
                },
                None => Case {
                    stored: false,
                    ..case
                },
            });
        }
        Ok(all)
    }

    async fn keep_parts(&self, tx: &mut Tx) -> Result<()> {
        let mut parts = Vec::new();
        for progress in &self.report.progress {
            let batch = &*progress.batch;
            for (recipient, ids) in &progress.submitted {
                for (page, id) in (1_i64..).zip(ids) {
                    parts.push((batch, *recipient, page, id));
                }
            }
        }
        parts::keep(tx, &parts).await
    }

    async fn received(&self, tx: &mut Tx, receipts: &[&Receipt]) -> Result<(Settled, usize)> {
        if receipts.is_empty() {
            return Ok((Settled::default(), 0));
        }
        let matched = parts::match_receipts(
            tx,
            &self.store,
            &self.report.carrier,
            self.report.now_ms,
            receipts,
        )
        .await?;
        let (mut delivered_parts, mut unmatched) = (Vec::new(), Vec::new());
        let mut cases: HashMap<(MessageId, Recipient), Case> = HashMap::new();
        let mut seen: HashSet<(usize, ReceiptWord)> = HashSet::new();
        for &receipt in receipts {
            let Some((index, part)) = matched.find(receipt) else {
                unmatched.push(receipt);
                continue;
            };
            let repeated = part.delivered || !seen.insert((index, receipt.word));
            if repeated {
                continue;
            }
            if receipt.word == DELIVERED && part.case.delivery.pages > 1 {
                delivered_parts.push(index);
            }
            let key = (part.case.message, part.case.recipient);
            let case = cases.entry(key).or_insert_with(|| part.case.clone());
            case.hear(receipt, part.leg);
        }
        let unknown = self.adopt(tx, unmatched, &mut cases).await?;
        self.park(tx, &unknown).await?;
        matched
            .mark_delivered(tx, &self.report.carrier, &delivered_parts)
            .await?;
        let cases: Vec<Case> = cases.into_values().collect();
        let messages = settle::messages(tx, &cases).await?;
        let settled = settle::settle(tx, &self.store, &self.terrain(), cases, &messages).await?;
        Ok((settled, unknown.len()))
    }
}

impl Case {
    /// Adds what a receipt says of a page of that leg.
    fn hear(&mut self, receipt: &Receipt, leg: i64) {
        self.events.push(receipt.word.event(leg));
        self.error = receipt.error.clone().or_else(|| self.error.take());
    }
}

/// The cases that a batch's progress makes.
fn cases(progress: &Progress) -> impl Iterator<Item = Case> {
    let batch = &*progress.batch;
    let case = move |recipient: Recipient, event: DeliveryEvent, error: Option<String>| Case {
        bucket: batch.bucket,
        message: batch.message,
        recipient,
        stored: batch.kind != crate::BatchKind::First,
        delivery: Delivery::unsent(batch.pages),
        suffixed: batch.suffixed,
        charge: batch.charge,
        reserve: batch.reserve,
        carrier: batch.carrier.to_string(),
        error,
        events: vec![event],
    };
    let leg = batch.leg;
    let submitted = progress
        .submitted
        .iter()
        .map(move |&(recipient, _)| case(recipient, DeliveryEvent::Submitted { leg }, None));
    let doubted = progress
        .doubted
        .iter()
        .map(move |&recipient| case(recipient, DeliveryEvent::Doubted { leg }, None));
    let ended = progress.ended.iter().map(move |ended| {
        let event = DeliveryEvent::Failed {
            leg,
            status: ended.status,
        };
        case(ended.recipient, event, Some(ended.error.clone()))
    });
    submitted.chain(doubted).chain(ended)
}
