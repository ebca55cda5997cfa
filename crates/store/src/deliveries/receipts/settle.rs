//! The transactions that settle a report.

pub(crate) mod cancelled;
mod cases;

use super::adopt::Adoption;
use super::park::Park;
use super::parked::parked_for;
use super::receipt::{Receipt, ReceiptStatus};
use super::report::{CarrierReport, JoinedReport};
use crate::batches::batch::{Batch, Progress};
use crate::batches::batch_rows;
use crate::buckets::Buckets;
use crate::deliveries::carrier_ids::{self, Matched, Meant, PageRef};
use crate::deliveries::delivery_rows::{known, stored};
use crate::deliveries::pending::PendingSettlement;
use crate::deliveries::receipt_polls;
use crate::deliveries::settle::{self, RefundDue, Settled};
use crate::outbox;
use crate::upkeep::sweep;
use cases::{cases, late_cases};
use database::{Change, Result, Tx};
use domain::{BatchId, Bucket, DeliveryStatus, Leg, Recipient};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The part of a report that one transaction settles.
pub(super) struct ReportPart {
    pub(super) buckets: Buckets,
    pub(super) joined: Arc<JoinedReport>,
    /// A bucket of its recipients.
    pub(super) home: Bucket,
    /// Places in the report.
    progress: Vec<usize>,
    /// Places among the receipts.
    receipts: Vec<usize>,
    /// The pages that the receipts may mean, if they were looked up before.
    parts: Option<Arc<Matched>>,
}

impl ReportPart {
    /// Returns the whole report, for a database with one bucket.
    pub(super) fn all(buckets: Buckets, joined: Arc<JoinedReport>) -> Self {
        Self {
            progress: (0..joined.report.progress.len()).collect(),
            receipts: (0..joined.count()).collect(),
            home: Bucket(0),
            parts: None,
            buckets,
            joined,
        }
    }

    /// Returns the part of these items, each with its bucket.
    pub(super) fn of(
        buckets: Buckets,
        joined: Arc<JoinedReport>,
        items: &[(Bucket, Item)],
        parts: Arc<Matched>,
    ) -> Self {
        let places = |wanted: fn(Item) -> Option<usize>| {
            items.iter().filter_map(|&(_, item)| wanted(item)).collect()
        };
        Self {
            buckets,
            joined,
            home: items.first().map_or(Bucket(0), |(bucket, _)| *bucket),
            progress: places(|item| match item {
                Item::Progress(place) => Some(place),
                Item::Receipt(_) => None,
            }),
            receipts: places(|item| match item {
                Item::Receipt(place) => Some(place),
                Item::Progress(_) => None,
            }),
            parts: Some(parts),
        }
    }

    pub(super) fn progress(&self) -> impl Iterator<Item = &Progress> {
        let all = &self.joined.report.progress;
        self.progress.iter().filter_map(|&place| all.get(place))
    }

    fn adoption(&self) -> Adoption<'_> {
        Adoption {
            buckets: self.buckets,
            joined: &self.joined,
            home: self.home,
        }
    }

    /// Accounts for recipients of claimed batches.
    async fn progressed(&self, tx: &mut Tx) -> Result<(Settled, Vec<RefundDue>)> {
        if self.progress.is_empty() {
            return Ok(Default::default());
        }
        let held = self.give_up_batches(tx).await?;
        let (in_time, late): (Vec<&Progress>, Vec<&Progress>) = self
            .progress()
            .partition(|progress| held.contains(&progress.batch.id));
        let fresh = in_time.iter().copied().flat_map(cases);
        let fresh: Vec<PendingSettlement> =
            fresh.chain(late.into_iter().flat_map(late_cases)).collect();
        let (taken, fresh): (Vec<PendingSettlement>, Vec<PendingSettlement>) = fresh
            .into_iter()
            .partition(PendingSettlement::is_taken_at_once);
        let mut cases = known(tx, fresh).await?;
        let adoption = self.adoption();
        adoption
            .correct_guesses(tx, self.progress(), &mut cases)
            .await?;
        let context = self.joined.report.context();
        sweep::look_back(tx, self.due_times(), context.now_ms).await?;
        settle::begin(tx, context.now_ms, taken).await?;
        let messages = settle::messages(tx, &cases).await?;
        let (mut settled, mut owed) = settle::settle(tx, &context, cases, &messages).await?;
        let unsent = in_time.iter().flat_map(|progress| progress.put_back());
        let unsent: Vec<&Batch> = unsent.collect();
        owed.extend(settle::put_back(tx, &unsent).await?);
        if self.parts.is_none() {
            let (progress, now_ms) = (self.progress(), self.joined.report.now_ms);
            let kept = progress.flat_map(|one| carrier_ids::submitted(one, now_ms));
            let kept: Vec<_> = kept.collect();
            carrier_ids::keep(tx, self.buckets, &kept).await?;
            let polled = &self.joined.report.polled;
            receipt_polls::plan(tx, polled, self.progress(), now_ms).await?;
        }
        let again: Vec<&Batch> = in_time
            .iter()
            .flat_map(|progress| &progress.again)
            .collect();
        batch_rows::insert(tx, &again).await?;
        let work = again
            .iter()
            .map(|batch| (batch.carrier.clone(), batch.due_at_ms));
        settled.work.extend(work);
        Ok((settled, owed))
    }

    /// Returns the due times of the messages whose recipients have news.
    fn due_times(&self) -> impl Iterator<Item = (Bucket, i64)> {
        let is_changed = |one: &&Progress| {
            !(one.submitted.is_empty() && one.doubted.is_empty() && one.ended.is_empty())
        };
        let changed = self.progress().filter(is_changed);
        changed.map(|one| (one.batch.bucket, one.batch.message_due_at_ms))
    }

    /// Reduces the batches to the recipients still open, and returns the ids of the batches that
    /// this node still held. It lost the others when it was taken for dead: their recipients are in
    /// doubt, and another node handles them.
    async fn give_up_batches(&self, tx: &mut Tx) -> Result<HashSet<BatchId>> {
        let (done, open): (Vec<&Progress>, Vec<&Progress>) = self
            .progress()
            .partition(|progress| progress.remaining.is_empty());
        let done: Vec<&Batch> = done.iter().map(|progress| &*progress.batch).collect();
        let mut held = batch_rows::take(tx, &done).await?;
        let open: Vec<(&Batch, &[Recipient])> = open
            .iter()
            .map(|progress| (&*progress.batch, &progress.remaining[..]))
            .collect();
        held.extend(batch_rows::shrink(tx, &open).await?);
        let stopped = self.progress().filter(|progress| progress.stopped);
        let stopped: Vec<&Batch> = stopped.map(|progress| &*progress.batch).collect();
        batch_rows::set_stopped(tx, &stopped).await?;
        Ok(held)
    }

    async fn matched(&self, tx: &mut Tx) -> Result<Arc<Matched>> {
        if let Some(parts) = &self.parts {
            return Ok(Arc::clone(parts));
        }
        let places = self.receipts.iter();
        let receipts = places.map(|&place| (place, self.joined.receipt(place)));
        let now_ms = self.joined.report.now_ms;
        let matched = carrier_ids::look_up(tx, self.buckets, now_ms, receipts).await?;
        Ok(Arc::new(matched))
    }

    async fn received(&self, tx: &mut Tx) -> Result<(Settled, Vec<RefundDue>, Vec<usize>)> {
        if self.receipts.is_empty() {
            return Ok(Default::default());
        }
        let matched = self.matched(tx).await?;
        let context = self.joined.report.context();
        let mut found: Vec<(usize, &[PageRef])> = Vec::with_capacity(self.receipts.len());
        let mut unclear = Vec::new();
        for &place in &self.receipts {
            let receipt = self.joined.receipt(place);
            match matched.find(place, receipt) {
                Meant::Unclear => unclear.push(Arc::clone(&receipt.carrier)),
                meant => found.push((place, meant.pages().unwrap_or_default())),
            }
        }
        let usual = self.usual(&found);
        let messages = settle::messages(tx, &usual).await?;
        let (mut settled, ended) = settle::deliver(tx, &context, usual, &messages).await?;
        settled.unclear = unclear;
        let is_left = |part: &PageRef| !ended.contains(&(part.message, part.recipient));
        found.retain(|(_, pages)| pages.first().is_none_or(is_left));
        let parts = found.iter().filter_map(|(_, pages)| pages.first());
        let mut keys: Vec<_> = parts.map(PageRef::delivery).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut cases = stored(tx, &keys).await?.cases;
        let mut unmatched = Vec::new();
        for (place, pages) in found {
            let case = pages
                .first()
                .and_then(|part| cases.get_mut(&(part.message, part.recipient)));
            match case {
                Some(case) => self.joined.receipt(place).add_events(case, pages),
                None => unmatched.push(place),
            }
        }
        let lost = self.adoption().adopt(tx, unmatched, &mut cases).await?;
        let cases: Vec<PendingSettlement> = cases.into_values().collect();
        let messages = settle::messages(tx, &cases).await?;
        let (more, owed) = settle::settle(tx, &context, cases, &messages).await?;
        settled.join(more);
        Ok((settled, owed, lost))
    }

    /// Returns the cases for the fast path: a recipient's only receipt reports that the one page of
    /// its one leg is delivered. The write checks that it was one page and one leg.
    fn usual(&self, found: &[(usize, &[PageRef])]) -> Vec<PendingSettlement> {
        let mut by_delivery: BTreeMap<_, Vec<(&PageRef, &Receipt)>> = BTreeMap::new();
        for &(place, pages) in found {
            for part in pages {
                let receipts = by_delivery.entry(part.delivery()).or_default();
                receipts.push((part, self.joined.receipt(place)));
            }
        }
        let only = by_delivery.into_values().filter_map(|all| match all[..] {
            [one] => Some(one),
            _ => None,
        });
        only.filter(|(part, receipt)| is_usual(part, receipt.status))
            .map(|(part, receipt)| {
                let event = receipt.status.event(part.leg, part.page);
                settle::assumed(&receipt.carrier, part, event, receipt.raw.as_deref())
            })
            .collect()
    }
}

/// A place in a report.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    /// Among the progress of batches.
    Progress(usize),
    /// Among the receipts.
    Receipt(usize),
}

impl Change for ReportPart {
    /// The settled recipients, and the places of receipts that found none.
    type Output = (Settled, Vec<usize>);

    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<(Settled, Vec<usize>)> {
        let (mut settled, mut owed) = self.progressed(tx).await?;
        let (more, more_owed, lost) = self.received(tx).await?;
        settled.join(more);
        owed.extend(more_owed);
        settle::refund(tx, self.buckets, self.joined.report.now_ms, owed).await?;
        Ok((settled, lost))
    }

    /// The change may be repeated without harm, but the callbacks that it claimed would not be
    /// returned a second time.
    async fn is_committed(
        &self,
        tx: &mut Tx,
        (settled, _): &(Settled, Vec<usize>),
    ) -> Result<bool> {
        outbox::are_claimed(tx, &settled.callbacks, self.joined.report.node).await
    }
}

/// A whole report, for a database with one bucket. The writer itself reads the parked receipts that
/// match, and parks the ones that find no recipient, so no response can come in between. A separate
/// read would need a connection and a switch between workers.
pub(super) struct EmbeddedReport {
    pub(super) buckets: Buckets,
    pub(super) report: Arc<CarrierReport>,
}

impl Change for EmbeddedReport {
    /// The settled recipients, and the places of parked receipts.
    type Output = (Settled, Vec<usize>);

    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<(Settled, Vec<usize>)> {
        let report = Arc::clone(&self.report);
        let parked = parked_for(self.buckets, tx, &report).await?;
        let joined = Arc::new(JoinedReport { report, parked });
        let all = ReportPart::all(self.buckets, Arc::clone(&joined));
        let (mut settled, lost) = all.apply(tx).await?;
        let park = Park::of(self.buckets, &joined, &lost);
        if park.is_empty() {
            return Ok((settled, Vec::new()));
        }
        let parking = park.apply(tx).await?;
        settled.unclear.extend(parking.unclear);
        Ok((settled, parking.places))
    }
}

/// Returns `true` if a receipt reports the usual status of its page.
fn is_usual(part: &PageRef, status: ReceiptStatus) -> bool {
    let delivered = ReceiptStatus::Final(DeliveryStatus::Delivered);
    status == delivered && (part.leg, part.page) == (Leg::First, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::MessageId;

    #[test]
    fn that_the_first_page_of_the_first_leg_is_delivered_is_usual() {
        let status = ReceiptStatus::Final;
        let table = [
            (Leg::First, 1, status(DeliveryStatus::Delivered), true),
            (Leg::First, 2, status(DeliveryStatus::Delivered), false),
            (Leg::Second, 1, status(DeliveryStatus::Delivered), false),
            (Leg::First, 1, status(DeliveryStatus::Undelivered), false),
            (Leg::First, 1, ReceiptStatus::Pending, false),
        ];
        for (leg, page, status, expected) in table {
            let part = PageRef {
                home: Bucket(0),
                message: MessageId::lowest_at(0),
                recipient: Recipient::from_digits(2_348_030_000_000),
                leg,
                page,
                hour_ms: 0,
                is_guess: false,
            };
            assert_eq!(
                is_usual(&part, status),
                expected,
                "{leg:?} {page} {status:?}"
            );
        }
    }
}
