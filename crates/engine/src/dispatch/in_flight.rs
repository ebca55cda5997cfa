//! The claimed batches of a carrier in memory: recipients to submit, recipients on the wire, and
//! outcomes that are not committed yet. No effects here.

use super::batch_slot::{Slot, Stopped, Updates};
use super::decision::{Decision, Tag};
use super::multipart::{Answer, MultipartState};
use super::pages::Pages;
use crate::context::outcome::Outcome;
use crate::context::plan::Plan;
use domain::{BatchId, Priority, Recipient};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use store::{Batch, Claimed, Content, Ended, Progress};

/// A recipient to submit, with its pages.
pub(crate) struct Ready {
    pub(crate) tag: Tag,
    pub(crate) recipient: Recipient,
    pub(crate) batch: Arc<Batch>,
    pub(crate) pages: Arc<Pages>,
    /// A bit for each page to submit. Bit 0 is the first page.
    due: u64,
}

impl Ready {
    /// Returns the indexes of the pages to submit.
    pub(crate) fn due(&self) -> impl Iterator<Item = usize> {
        (0..self.pages.count()).filter(|page| self.due & (1 << page) != 0)
    }
}

/// All batches in memory.
#[derive(Default)]
pub(crate) struct InFlight {
    slots: Vec<Option<Slot>>,
    free_slots: Vec<u32>,
    ready: [VecDeque<(u32, u16)>; 3],
    /// Delayed recipients with the steady time of their next submit.
    delayed: BTreeSet<(i64, Tag)>,
    /// Number of delays of each recipient that was delayed.
    delays: HashMap<(u32, u16), i64>,
    /// The state of multipart recipients. A recipient of one page needs none.
    multiparts: HashMap<(u32, u16), MultipartState>,
    /// Recipients that a carrier refused together with others. Each is submitted alone.
    alone: HashSet<(u32, u16)>,
    /// Slots with uncommitted outcomes, oldest first.
    changed: VecDeque<u32>,
    /// Batches whose last report the database rejected.
    blocked: BTreeSet<BatchId>,
}

impl InFlight {
    /// Adds a claimed batch. With `send` its recipients are queued, else their tags are returned
    /// for a decision.
    pub(crate) fn take(&mut self, claimed: Claimed, pages: Pages, send: bool) -> Vec<Tag> {
        let index = self.free_slots.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let count = claimed.batch.recipients.len();
        let indexes = 0..u16::try_from(count).unwrap_or(u16::MAX);
        let mut to_decide = Vec::new();
        if send {
            let queue = &mut self.ready[claimed.batch.priority as usize];
            queue.extend(indexes.map(|recipient| (index, recipient)));
        } else {
            to_decide.extend(indexes.map(|recipient| Tag {
                slot: index,
                recipient,
                page: 0,
            }));
        }
        self.slots[index as usize] = Some(Slot {
            batch: Arc::new(claimed.batch),
            content: claimed.content,
            pages: Arc::new(pages),
            unaccounted: count,
            accounted_for: vec![false; count],
            updates: Updates::default(),
            stopped: Stopped::No,
        });
        to_decide
    }

    /// Returns the number of recipients to submit.
    pub(crate) fn waiting(&self) -> usize {
        self.ready.iter().map(VecDeque::len).sum()
    }

    /// Returns `true` if no batch is in memory.
    pub(crate) fn is_empty(&self) -> bool {
        self.free_slots.len() == self.slots.len()
    }

    /// Takes the next recipient to submit in order of priority, down to priority `least`.
    pub(crate) fn next(&mut self, least: Priority) -> Option<Ready> {
        let mut queues = self.ready[..=least as usize].iter_mut();
        let (slot, index) = queues.find_map(VecDeque::pop_front)?;
        let held = self.slots.get(slot as usize)?.as_ref()?;
        let recipient = *held.batch.recipients.get(usize::from(index))?;
        let pages = held.pages.count();
        let due = if pages > 1 {
            self.multiparts
                .entry((slot, index))
                .or_default()
                .send_due(pages)
        } else {
            1
        };
        let tag = Tag {
            slot,
            recipient: index,
            page: 0,
        };
        Some(Ready {
            tag,
            recipient,
            batch: Arc::clone(&held.batch),
            pages: Arc::clone(&held.pages),
            due,
        })
    }

    /// Returns `true` if the next recipient to submit may share the request of this one: both are of
    /// one batch, and have the same text.
    pub(crate) fn next_shares(&self, tag: Tag) -> bool {
        let next = self.ready.iter().find_map(VecDeque::front);
        let Some(&(slot, index)) = next.filter(|(slot, _)| *slot == tag.slot) else {
            return false;
        };
        let is_alone = |index| self.alone.contains(&(slot, index));
        let held = self.slots.get(slot as usize).and_then(Option::as_ref);
        let (before, after) = (usize::from(tag.recipient), usize::from(index));
        let have_one_text = held.is_some_and(|held| held.pages.have_one_text(before, after));
        have_one_text && !is_alone(tag.recipient) && !is_alone(index)
    }

    /// Takes all recipients that are queued or delayed. Some pages of them may be accepted already.
    pub(crate) fn take_unsent(&mut self) -> Vec<Tag> {
        let ready = self.ready.iter_mut().flat_map(std::mem::take);
        let ready = ready.map(|(slot, recipient)| Tag {
            slot,
            recipient,
            page: 0,
        });
        let delayed = std::mem::take(&mut self.delayed).into_iter();
        ready.chain(delayed.map(|(_, tag)| tag)).collect()
    }

    /// Returns the number of delayed recipients.
    pub(crate) fn delayed(&self) -> usize {
        self.delayed.len()
    }

    /// Queues delayed recipients whose time has come, behind the others of their priority.
    pub(crate) fn queue_delayed(&mut self, steady_ms: i64) {
        while let Some(&(due_ms, tag)) = self.delayed.first()
            && due_ms <= steady_ms
        {
            self.delayed.pop_first();
            let slot = self.slots.get(tag.slot as usize).and_then(Option::as_ref);
            if let Some(slot) = slot {
                self.ready[slot.batch.priority as usize].push_back((tag.slot, tag.recipient));
            }
        }
    }

    /// Returns how often a recipient was delayed.
    pub(crate) fn delays(&self, tag: Tag) -> i64 {
        let delays = self.delays.get(&(tag.slot, tag.recipient));
        delays.copied().unwrap_or_default()
    }

    /// Returns the batch of a tag.
    pub(crate) fn batch(&self, tag: Tag) -> Option<(Arc<Batch>, Arc<Content>)> {
        let slot = self.slots.get(tag.slot as usize)?.as_ref()?;
        Some((Arc::clone(&slot.batch), Arc::clone(&slot.content)))
    }

    /// Records the outcome of a page. Returns the answer once all pages of the recipient have an
    /// outcome.
    pub(crate) fn answered(&mut self, tag: Tag, outcome: Outcome) -> Option<Answer> {
        let key = (tag.slot, tag.recipient);
        if outcome == Outcome::RefusedTogether {
            self.alone.insert(key);
        }
        let Some(multipart) = self.multiparts.get_mut(&key) else {
            return Some(match outcome {
                Outcome::Accepted { message_id } => {
                    // All pages of a submit have its id.
                    let slot = self.slots.get(tag.slot as usize).and_then(Option::as_ref);
                    let pages = slot.map_or(1, |slot| slot.pages.per_submit());
                    Answer::Accepted(vec![message_id; pages])
                }
                Outcome::Rejected(rejection) => Answer::Rejected(rejection),
                Outcome::NotSent | Outcome::RefusedTogether => Answer::NotSent,
                Outcome::Unknown => Answer::Unknown,
            });
        };
        multipart.record(usize::from(tag.page), outcome)
    }

    /// Returns `true` if the carrier accepted some pages of a recipient.
    pub(crate) fn is_begun(&self, tag: Tag) -> bool {
        let multipart = self.multiparts.get(&(tag.slot, tag.recipient));
        multipart.is_some_and(MultipartState::is_begun)
    }

    /// Applies a decision on a recipient in memory.
    pub(crate) fn decide(&mut self, tag: Tag, decision: Decision) {
        let Some(slot) = self
            .slots
            .get_mut(tag.slot as usize)
            .and_then(Option::as_mut)
        else {
            return;
        };
        let Some(&recipient) = slot.batch.recipients.get(usize::from(tag.recipient)) else {
            return;
        };
        if decision == Decision::ResubmitNow {
            self.ready[slot.batch.priority as usize].push_front((tag.slot, tag.recipient));
            return;
        }
        if let Decision::ResubmitAt(steady_ms) = decision {
            *self.delays.entry((tag.slot, tag.recipient)).or_default() += 1;
            self.delayed.insert((steady_ms, tag));
            return;
        }
        if std::mem::replace(&mut slot.accounted_for[usize::from(tag.recipient)], true) {
            return;
        }
        if slot.pages.count() > 1 {
            self.multiparts.remove(&(tag.slot, tag.recipient));
        }
        if !self.delays.is_empty() {
            self.delays.remove(&(tag.slot, tag.recipient));
        }
        self.alone.remove(&(tag.slot, tag.recipient));
        slot.unaccounted -= 1;
        let updates = &mut slot.updates;
        if updates.count == 0 {
            self.changed.push_back(tag.slot);
        }
        updates.count += 1;
        match decision {
            Decision::Submitted(ids) => updates.submitted.push((recipient, ids)),
            Decision::InDoubt(requeue) => {
                updates.doubted.push(recipient);
                if let Some(requeue) = requeue {
                    updates.requeue.entry(requeue).or_default().push(recipient);
                }
            }
            Decision::Ended(status, error) => updates.ended.push(Ended {
                recipient,
                status,
                error,
            }),
            Decision::Requeue(requeue) => {
                updates.requeue.entry(requeue).or_default().push(recipient);
            }
            Decision::ResubmitNow | Decision::ResubmitAt(_) => {}
        }
    }

    /// Blocks the outcomes of a batch until its rejected report is committed. A report contains all
    /// remaining recipients, so reports of a batch must be committed in order.
    pub(crate) fn block(&mut self, batch: BatchId) {
        self.blocked.insert(batch);
    }

    /// Unblocks a batch after its report is committed.
    pub(crate) fn unblock(&mut self, batch: BatchId) {
        self.blocked.remove(&batch);
        let is_it = |slot: &Option<Slot>| {
            let slot = slot.as_ref();
            slot.is_some_and(|slot| {
                let is_changed = slot.updates.count > 0 || slot.stopped == Stopped::Unreported;
                slot.batch.id == batch && is_changed
            })
        };
        if let Some(index) = self.slots.iter().position(is_it) {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            // The slot may be in the queue already.
            self.changed.retain(|&other| other != index);
            self.changed.push_back(index);
        }
    }

    /// Returns `true` if there are uncommitted outcomes.
    pub(crate) fn has_updates(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Takes uncommitted outcomes, oldest first, until they account for `enough` recipients.
    /// Returns them with that number.
    pub(crate) fn progress(
        &mut self,
        plan: &Plan,
        now_ms: i64,
        enough: usize,
    ) -> (Vec<Progress>, usize) {
        let mut all = Vec::with_capacity(self.changed.len().min(enough));
        let mut accounted = 0;
        while accounted < enough
            && let Some(index) = self.changed.pop_front()
        {
            let Some(slot) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
                continue;
            };
            if self.blocked.contains(&slot.batch.id) {
                continue;
            }
            let updates = std::mem::take(&mut slot.updates);
            if slot.stopped == Stopped::Unreported {
                slot.stopped = Stopped::Reported;
            }
            let mut again: Vec<Batch> = updates
                .requeue
                .into_iter()
                .map(|(requeue, recipients)| {
                    requeue.batch(&slot.batch, recipients, BatchId(plan.numbers(1)))
                })
                .collect();
            let submitted = updates.submitted.iter().map(|(recipient, _)| *recipient);
            let awaited = submitted.chain(updates.doubted.iter().copied());
            let gateway = slot.content.gateway;
            again.extend(plan.second_leg_timer(&slot.batch, gateway, awaited, now_ms));
            let waiting = slot
                .batch
                .recipients
                .iter()
                .zip(&slot.accounted_for)
                .filter(|(_, accounted_for)| !**accounted_for);
            let remaining: Vec<Recipient> = if slot.unaccounted == 0 {
                Vec::new()
            } else {
                waiting.map(|(recipient, _)| *recipient).collect()
            };
            accounted += updates.count;
            all.push(Progress {
                batch: Arc::clone(&slot.batch),
                gateway,
                submitted: updates.submitted,
                doubted: updates.doubted,
                ended: updates.ended,
                remaining,
                again,
                stopped: slot.stopped != Stopped::No,
            });
            if slot.unaccounted == 0 {
                self.slots[index as usize] = None;
                self.free_slots.push(index);
            }
        }
        (all, accounted)
    }

    /// Records that no unsent recipient of these batches is in memory. Each is reported once.
    pub(crate) fn note_stopped(&mut self, is_stopped: impl Fn(&Batch) -> bool) {
        for (index, slot) in (0..).zip(&mut self.slots) {
            let Some(slot) = slot.as_mut() else {
                continue;
            };
            if slot.stopped == Stopped::No && is_stopped(&slot.batch) {
                slot.stopped = Stopped::Unreported;
                if slot.updates.count == 0 {
                    self.changed.push_back(index);
                }
            }
        }
    }

    /// Takes queued and delayed recipients of matching batches. Recipients with an accepted page
    /// stay.
    pub(crate) fn withdraw(&mut self, matches: impl Fn(&Batch, &Content) -> bool) -> Vec<Tag> {
        let ready = self.ready.iter().flatten();
        let ready = ready.map(|&(slot, recipient)| Tag {
            slot,
            recipient,
            page: 0,
        });
        let delayed = self.delayed.iter().map(|&(_, tag)| tag);
        let is_unsent = |tag: &Tag| {
            let found = self.batch(*tag);
            found.is_some_and(|(batch, content)| matches(&batch, &content)) && !self.is_begun(*tag)
        };
        let out: Vec<Tag> = ready.chain(delayed).filter(is_unsent).collect();
        let indexes: HashSet<(u32, u16)> =
            out.iter().map(|tag| (tag.slot, tag.recipient)).collect();
        for queue in &mut self.ready {
            queue.retain(|index| !indexes.contains(index));
        }
        self.delayed
            .retain(|(_, tag)| !indexes.contains(&(tag.slot, tag.recipient)));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::Cut;
    use super::*;
    use crate::context::outcome::Rejection;
    use crate::context::random::{Numbers, Random};
    use domain::{
        AccountId, Bucket, CodeWords, Environment, Gateway, MessageId, Money, NumberPlan, Rulebook,
    };
    use std::ops::RangeInclusive;
    use store::{BatchKind, Body};

    /// Returns a plan without carriers and gateways.
    fn plan() -> Plan {
        let rules = Rulebook {
            plan: NumberPlan::new(&[]).unwrap(),
            carriers: Vec::new(),
            gateways: Vec::new(),
            code_words: CodeWords::new(&[]),
            max_recipients: 1,
            private_callbacks: false,
        };
        Plan::new(rules, Numbers::new(0, &Random::seeded(1)))
    }

    /// Returns a claimed batch of a campaign.
    fn campaign(id: i64, recipients: u64) -> Claimed {
        let first = 2_348_031_000_000;
        let recipients = (first..first + recipients).map(Recipient::from_digits);
        let batch = Batch {
            bucket: Bucket(0),
            carrier: "mtn".into(),
            state: store::QueueState::Claimed(domain::NodeId(1)),
            claimed_until_ms: 0,
            priority: Priority::Bulk,
            due_at_ms: 0,
            id: BatchId(id),
            message: MessageId::new(0, [0; 10]),
            message_due_at_ms: 0,
            kind: BatchKind::First,
            leg: domain::Leg::First,
            tries: 0,
            suffixed: false,
            pages: 1,
            charge: Money::ZERO,
            reserve: Money::ZERO,
            expires_at_ms: i64::MAX,
            recipients: recipients.collect(),
        };
        let content = Arc::new(Content {
            account: AccountId(1),
            environment: Environment::Live,
            gateway: Gateway::DirectRefund,
            sender: "Ada".to_owned(),
            body: Body::Shared("Hello".to_owned()),
        });
        Claimed { batch, content }
    }

    #[test]
    fn delayed_pages_are_queued_when_their_time_has_come() {
        let claimed = Claimed {
            content: Arc::new(Content {
                body: Body::Shared("x".repeat(200)),
                ..(*campaign(1, 1).content).clone()
            }),
            ..campaign(1, 1)
        };
        let pages = Pages::new(&claimed, b"key", Cut::Pages, ("", Some(1_000))).unwrap();
        assert_eq!(pages.count(), 2);
        let mut in_flight = InFlight::default();
        in_flight.take(claimed, pages, true);
        let ready = in_flight.next(Priority::Bulk).unwrap();
        let second = Tag {
            page: 1,
            ..ready.tag
        };
        let message_id = "a".to_owned();
        assert_eq!(
            in_flight.answered(ready.tag, Outcome::Accepted { message_id }),
            None
        );
        let full = Rejection::Smpp(smpp::CommandStatus::RMSGQFUL);
        let answer = in_flight.answered(second, Outcome::Rejected(full.clone()));
        assert_eq!(answer, Some(Answer::Rejected(full)));
        assert!(in_flight.is_begun(second));
        assert_eq!(in_flight.delays(second), 0);
        in_flight.decide(second, Decision::ResubmitAt(2_000));
        in_flight.queue_delayed(1_999);
        assert_eq!((in_flight.delayed(), in_flight.waiting()), (1, 0));
        in_flight.queue_delayed(2_000);
        assert_eq!((in_flight.delayed(), in_flight.waiting()), (0, 1));
        let again = in_flight.next(Priority::Bulk).unwrap();
        assert_eq!(again.due().collect::<Vec<_>>(), [1]);
        assert_eq!(in_flight.delays(second), 1);
        in_flight.decide(second, Decision::ResubmitAt(9_000));
        let take_unsent: Vec<_> = in_flight
            .take_unsent()
            .iter()
            .map(|tag| tag.recipient)
            .collect();
        assert_eq!(take_unsent, [0], "delayed recipients are returned too");
    }

    #[test]
    fn recipients_that_are_refused_together_are_submitted_alone() {
        let mut in_flight = with_campaigns(1..=2, 3);
        let first = in_flight.next(Priority::Bulk).unwrap();
        assert!(in_flight.next_shares(first.tag));
        let second = in_flight.next(Priority::Bulk).unwrap();
        for ready in [&second, &first] {
            let answer = in_flight.answered(ready.tag, Outcome::RefusedTogether);
            assert_eq!(answer, Some(Answer::NotSent));
            in_flight.decide(ready.tag, Decision::ResubmitNow);
        }
        let again = in_flight.next(Priority::Bulk).unwrap();
        assert_eq!(again.tag, first.tag);
        assert!(!in_flight.next_shares(again.tag));
        let again = in_flight.next(Priority::Bulk).unwrap();
        assert_eq!(again.tag, second.tag);
        assert!(
            !in_flight.next_shares(again.tag),
            "the third waits for another"
        );
        let third = in_flight.next(Priority::Bulk).unwrap();
        assert!(
            !in_flight.next_shares(third.tag),
            "the next message is another"
        );
        for ready in [first, second] {
            in_flight.decide(ready.tag, Decision::Submitted(vec!["1".to_owned()]));
        }
        assert!(in_flight.alone.is_empty());
    }

    #[test]
    fn delayed_recipients_are_queued_last() {
        let mut in_flight = with_campaigns(1..=1, 3);
        let first = in_flight.next(Priority::Bulk).unwrap();
        in_flight.decide(first.tag, Decision::ResubmitAt(1_000));
        in_flight.queue_delayed(1_000);
        let order = std::iter::from_fn(|| in_flight.next(Priority::Bulk));
        let order: Vec<u16> = order.map(|ready| ready.tag.recipient).collect();
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(in_flight.delays(first.tag), 1);
        in_flight.decide(first.tag, Decision::Submitted(vec!["1".to_owned()]));
        assert_eq!(in_flight.delays(first.tag), 0, "its delays are forgotten");
    }

    /// Returns campaigns in memory, each to so many recipients.
    fn with_campaigns(ids: RangeInclusive<i64>, recipients: u64) -> InFlight {
        let mut in_flight = InFlight::default();
        for id in ids {
            let claimed = campaign(id, recipients);
            let pages = Pages::new(&claimed, b"key", Cut::Pages, ("", Some(1_000))).unwrap();
            in_flight.take(claimed, pages, true);
        }
        in_flight
    }

    #[test]
    fn outcomes_are_taken_oldest_first_up_to_a_bound() {
        let plan = plan();
        let mut in_flight = with_campaigns(1..=3, 10);
        while let Some(ready) = in_flight.next(Priority::Bulk) {
            in_flight.decide(ready.tag, Decision::Submitted(vec!["1".to_owned()]));
        }
        let mut taken = |enough| {
            let (progress, accounted) = in_flight.progress(&plan, 0, enough);
            let ids: Vec<i64> = progress.iter().map(|one| one.batch.id.0).collect();
            (ids, accounted, in_flight.has_updates())
        };
        assert_eq!(taken(11), (vec![1, 2], 20, true));
        assert_eq!(taken(11), (vec![3], 10, false));
        assert!(in_flight.is_empty());
    }

    #[test]
    fn updates_of_a_batch_wait_for_its_rejected_fragment() {
        let plan = plan();
        let mut in_flight = with_campaigns(1..=2, 3);
        // Each batch has one outcome at a time.
        let tags: Vec<Tag> = std::iter::from_fn(|| in_flight.next(Priority::Bulk))
            .map(|ready| ready.tag)
            .collect();
        let submit = |in_flight: &mut InFlight, index: u16| {
            for tag in tags.iter().filter(|tag| tag.recipient == index) {
                in_flight.decide(*tag, Decision::Submitted(vec!["1".to_owned()]));
            }
        };
        let taken = |in_flight: &mut InFlight| -> Vec<(i64, usize)> {
            let (progress, _) = in_flight.progress(&plan, 0, 100);
            let reported = progress.iter();
            reported
                .map(|one| (one.batch.id.0, one.submitted.len()))
                .collect()
        };
        submit(&mut in_flight, 0);
        assert_eq!(taken(&mut in_flight), [(1, 1), (2, 1)]);
        submit(&mut in_flight, 1);
        in_flight.block(BatchId(1));
        assert_eq!(taken(&mut in_flight), [(2, 1)]);
        submit(&mut in_flight, 2);
        assert_eq!(taken(&mut in_flight), [(2, 1)]);
        assert!(!in_flight.has_updates() && !in_flight.is_empty());
        in_flight.unblock(BatchId(1));
        assert_eq!(taken(&mut in_flight), [(1, 2)]);
        assert!(in_flight.is_empty());
    }
}
