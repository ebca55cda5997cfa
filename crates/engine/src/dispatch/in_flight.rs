//! The batches a carrier has in hand: which recipients are still to be sent, which are on the wire, and what
//! became of the others and is not in the database yet. No effects here.

use super::decision::{Decision, Tag};
use super::multipart::{Answer, MultipartState};
use super::pages::Pages;
use super::retry::Requeue;
use crate::context::plan::Plan;
use domain::{Priority, Recipient};
use smpp::SubmitOutcome;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use store::{Batch, Claimed, Content, Ended, Progress};

/// A batch in hand.
struct Slot {
    batch: Arc<Batch>,
    content: Arc<Content>,
    pages: Arc<Pages>,
    /// Recipients that are not accounted for in memory.
    open: usize,
    /// Which recipients are accounted for, by place in the batch.
    done: Vec<bool>,
    updates: Updates,
}

#[derive(Default)]
struct Updates {
    submitted: Vec<(Recipient, Vec<String>)>,
    doubted: Vec<Recipient>,
    ended: Vec<Ended>,
    later: BTreeMap<Requeue, Vec<Recipient>>,
    count: usize,
}

/// The part that is to be sent next.
pub(crate) struct Ready {
    pub(crate) tag: Tag,
    pub(crate) recipient: Recipient,
    pub(crate) batch: Arc<Batch>,
    pub(crate) pages: Arc<Pages>,
    /// Which of the pages: bit 0 is the first.
    due: u64,
}

impl Ready {
    /// The pages that go out, counted from 0.
    pub(crate) fn due(&self) -> impl Iterator<Item = usize> {
        (0..self.pages.count()).filter(|page| self.due & (1 << page) != 0)
    }
}

/// All batches in hand.
#[derive(Default)]
pub(crate) struct InFlight {
    slots: Vec<Option<Slot>>,
    free: Vec<u32>,
    ready: [VecDeque<(u32, u16)>; 3],
    /// Recipients that are to wait, with the steady time until which.
    held: BTreeSet<(i64, Tag)>,
    /// How often those have waited who had to.
    waits: HashMap<(u32, u16), i64>,
    /// Recipients of several pages; those of one page need no memory but the window's.
    multiparts: HashMap<(u32, u16), MultipartState>,
    /// Slots with news, the oldest first.
    fresh: VecDeque<u32>,
    /// Batches of which the database does not take what it was told last.
    held_back: BTreeSet<i64>,
}

impl InFlight {
    /// Takes a claimed batch in hand, to be sent or, if not, to be decided: then gives its recipients.
    pub(crate) fn take(&mut self, claimed: Claimed, pages: Pages, send: bool) -> Vec<Tag> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        let count = claimed.batch.recipients.len();
        let places = 0..u16::try_from(count).unwrap_or(u16::MAX);
        let mut held = Vec::new();
        if send {
            let queue = &mut self.ready[claimed.batch.priority as usize];
            queue.extend(places.map(|place| (index, place)));
        } else {
            held.extend(places.map(|recipient| Tag {
                slot: index,
                recipient,
                page: 0,
            }));
        }
        self.slots[index as usize] = Some(Slot {
            batch: Arc::new(claimed.batch),
            content: claimed.content,
            pages: Arc::new(pages),
            open: count,
            done: vec![false; count],
            updates: Updates::default(),
        });
        held
    }

    /// How many recipients wait to be sent.
    pub(crate) fn waiting(&self) -> usize {
        self.ready.iter().map(VecDeque::len).sum()
    }

    /// Returns `true` if nothing is in hand.
    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }

    /// The next recipient to be sent, the most urgent first; none that is less urgent than told.
    pub(crate) fn next(&mut self, least: Priority) -> Option<Ready> {
        let mut queues = self.ready[..=least as usize].iter_mut();
        let (slot, place) = queues.find_map(VecDeque::pop_front)?;
        let held = self.slots.get(slot as usize)?.as_ref()?;
        let recipient = *held.batch.recipients.get(usize::from(place))?;
        let pages = held.pages.count();
        let due = if pages > 1 {
            self.multiparts
                .entry((slot, place))
                .or_default()
                .send_due(pages)
        } else {
            1
        };
        let tag = Tag {
            slot,
            recipient: place,
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

    /// Takes out all recipients that wait, unsent or with pages that are.
    pub(crate) fn unsent(&mut self) -> Vec<Tag> {
        let ready = self.ready.iter_mut().flat_map(std::mem::take);
        let ready = ready.map(|(slot, recipient)| Tag {
            slot,
            recipient,
            page: 0,
        });
        let held = std::mem::take(&mut self.held).into_iter();
        ready.chain(held.map(|(_, tag)| tag)).collect()
    }

    /// How many wait for a time.
    pub(crate) fn held(&self) -> usize {
        self.held.len()
    }

    /// Moves recipients whose time has come behind those that wait.
    pub(crate) fn wake(&mut self, steady_ms: i64) {
        while let Some(&(due_ms, tag)) = self.held.first()
            && due_ms <= steady_ms
        {
            self.held.pop_first();
            let slot = self.slots.get(tag.slot as usize).and_then(Option::as_ref);
            if let Some(slot) = slot {
                self.ready[slot.batch.priority as usize].push_back((tag.slot, tag.recipient));
            }
        }
    }

    /// How often a recipient has waited for a time.
    pub(crate) fn waits(&self, tag: Tag) -> i64 {
        let waits = self.waits.get(&(tag.slot, tag.recipient));
        waits.copied().unwrap_or_default()
    }

    /// The batch that a tag belongs to.
    pub(crate) fn batch(&self, tag: Tag) -> Option<(Arc<Batch>, Arc<Content>)> {
        let slot = self.slots.get(tag.slot as usize)?.as_ref()?;
        Some((Arc::clone(&slot.batch), Arc::clone(&slot.content)))
    }

    /// Notes what came back for a page; gives the answer once all pages of the recipient have theirs.
    pub(crate) fn answered(&mut self, tag: Tag, outcome: SubmitOutcome) -> Option<Answer> {
        let key = (tag.slot, tag.recipient);
        let Some(multipart) = self.multiparts.get_mut(&key) else {
            return Some(match outcome {
                SubmitOutcome::Accepted { message_id } => Answer::Accepted(vec![message_id]),
                SubmitOutcome::Rejected(status) => Answer::Rejected(status),
                SubmitOutcome::NotSent => Answer::NotSent,
                SubmitOutcome::Unknown => Answer::Unknown,
            });
        };
        multipart.record(usize::from(tag.page), outcome)
    }

    /// Returns `true` if the carrier has taken some of a recipient's pages.
    pub(crate) fn is_begun(&self, tag: Tag) -> bool {
        let multipart = self.multiparts.get(&(tag.slot, tag.recipient));
        multipart.is_some_and(MultipartState::is_begun)
    }

    /// Settles in memory what becomes of a recipient.
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
        if decision == Decision::AtOnce {
            self.ready[slot.batch.priority as usize].push_front((tag.slot, tag.recipient));
            return;
        }
        if let Decision::AtTime(steady_ms) = decision {
            *self.waits.entry((tag.slot, tag.recipient)).or_default() += 1;
            self.held.insert((steady_ms, tag));
            return;
        }
        if std::mem::replace(&mut slot.done[usize::from(tag.recipient)], true) {
            return;
        }
        if slot.pages.count() > 1 {
            self.multiparts.remove(&(tag.slot, tag.recipient));
        }
        if !self.waits.is_empty() {
            self.waits.remove(&(tag.slot, tag.recipient));
        }
        slot.open -= 1;
        let updates = &mut slot.updates;
        if updates.count == 0 {
            self.fresh.push_back(tag.slot);
        }
        updates.count += 1;
        match decision {
            Decision::Submitted(ids) => updates.submitted.push((recipient, ids)),
            Decision::Doubted(later) => {
                updates.doubted.push(recipient);
                if let Some(later) = later {
                    updates.later.entry(later).or_default().push(recipient);
                }
            }
            Decision::Ended(status, error) => updates.ended.push(Ended {
                recipient,
                status,
                error,
            }),
            Decision::Requeue(later) => updates.later.entry(later).or_default().push(recipient),
            Decision::AtOnce | Decision::AtTime(_) => {}
        }
    }

    /// Updates of a batch wait until the database has the ones before: a batch row tells who is left,
    /// so whoever came later would take away those who came first.
    pub(crate) fn hold_back(&mut self, batch: i64) {
        self.held_back.insert(batch);
    }

    /// The database has it now.
    pub(crate) fn let_go(&mut self, batch: i64) {
        self.held_back.remove(&batch);
        let is_it = |slot: &Option<Slot>| {
            let slot = slot.as_ref();
            slot.is_some_and(|slot| slot.batch.id == batch && slot.updates.count > 0)
        };
        if let Some(index) = self.slots.iter().position(is_it) {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            // It may still stand there.
            self.fresh.retain(|&other| other != index);
            self.fresh.push_back(index);
        }
    }

    /// Returns `true` if there is something that the database does not know yet.
    pub(crate) fn has_updates(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Takes out what the database does not know yet, the oldest first, until that accounts for so many recipients;
    /// and how many those are.
    pub(crate) fn progress(
        &mut self,
        plan: &Plan,
        now_ms: i64,
        enough: usize,
    ) -> (Vec<Progress>, usize) {
        let mut all = Vec::with_capacity(self.fresh.len().min(enough));
        let mut accounted = 0;
        while accounted < enough
            && let Some(index) = self.fresh.pop_front()
        {
            let Some(slot) = self.slots.get_mut(index as usize).and_then(Option::as_mut) else {
                continue;
            };
            if self.held_back.contains(&slot.batch.id) {
                continue;
            }
            let updates = std::mem::take(&mut slot.updates);
            let mut again: Vec<Batch> = updates
                .later
                .into_iter()
                .map(|(later, recipients)| later.batch(&slot.batch, recipients, plan.numbers(1)))
                .collect();
            let submitted = updates.submitted.iter().map(|(recipient, _)| *recipient);
            let awaited = submitted.chain(updates.doubted.iter().copied());
            let gateway = slot.content.gateway;
            again.extend(plan.second_leg_timer(&slot.batch, gateway, awaited, now_ms));
            let waiting = slot
                .batch
                .recipients
                .iter()
                .zip(&slot.done)
                .filter(|(_, done)| !**done);
            let remaining: Vec<Recipient> = if slot.open == 0 {
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
            });
            if slot.open == 0 {
                self.slots[index as usize] = None;
                self.free.push(index);
            }
        }
        (all, accounted)
    }

    /// Takes out those recipients that wait and say what is meant, and of which no page was handed over.
    pub(crate) fn withdraw(&mut self, is_meant: impl Fn(&Content) -> bool) -> Vec<Tag> {
        let ready = self.ready.iter().flatten();
        let ready = ready.map(|&(slot, recipient)| Tag {
            slot,
            recipient,
            page: 0,
        });
        let held = self.held.iter().map(|&(_, tag)| tag);
        let is_unsent = |tag: &Tag| {
            let content = self.batch(*tag).map(|(_, content)| content);
            content.is_some_and(|content| is_meant(&content)) && !self.is_begun(*tag)
        };
        let out: Vec<Tag> = ready.chain(held).filter(is_unsent).collect();
        let places: HashSet<(u32, u16)> = out.iter().map(|tag| (tag.slot, tag.recipient)).collect();
        for queue in &mut self.ready {
            queue.retain(|place| !places.contains(place));
        }
        self.held
            .retain(|(_, tag)| !places.contains(&(tag.slot, tag.recipient)));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::random::{Numbers, Random};
    use domain::{
        AccountId, Bucket, CodeWords, Environment, Gateway, MessageId, Money, NumberPlan, Rulebook,
    };
    use std::ops::RangeInclusive;
    use store::BatchKind;

    /// Without carriers and gateways.
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

    /// A campaign that is claimed, to so many.
    fn campaign(id: i64, recipients: u64) -> Claimed {
        let first = 2_348_031_000_000;
        let recipients = (first..first + recipients).map(Recipient::from_digits);
        let batch = Batch {
            bucket: Bucket(0),
            carrier: "mtn".into(),
            claimed_by: 1,
            claimed_until_ms: 0,
            priority: Priority::Bulk,
            due_at_ms: 0,
            id,
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
            body: "Hello".to_owned(),
        });
        Claimed { batch, content }
    }

    #[test]
    fn pages_that_have_to_wait_are_next_when_their_time_has_come() {
        let claimed = Claimed {
            content: Arc::new(Content {
                body: "x".repeat(200),
                ..(*campaign(1, 1).content).clone()
            }),
            ..campaign(1, 1)
        };
        let pages = Pages::new(&claimed, "", Some(1_000));
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
            in_flight.answered(ready.tag, SubmitOutcome::Accepted { message_id }),
            None
        );
        let full = smpp::CommandStatus::RMSGQFUL;
        let answer = in_flight.answered(second, SubmitOutcome::Rejected(full));
        assert_eq!(answer, Some(Answer::Rejected(full)));
        assert!(in_flight.is_begun(second));
        assert_eq!(in_flight.waits(second), 0);
        in_flight.decide(second, Decision::AtTime(2_000));
        in_flight.wake(1_999);
        assert_eq!((in_flight.held(), in_flight.waiting()), (1, 0));
        in_flight.wake(2_000);
        assert_eq!((in_flight.held(), in_flight.waiting()), (0, 1));
        let again = in_flight.next(Priority::Bulk).unwrap();
        assert_eq!(again.due().collect::<Vec<_>>(), [1]);
        assert_eq!(in_flight.waits(second), 1);
        in_flight.decide(second, Decision::AtTime(9_000));
        let unsent: Vec<_> = in_flight.unsent().iter().map(|tag| tag.recipient).collect();
        assert_eq!(unsent, [0], "they go back, too");
    }

    #[test]
    fn whoever_had_to_wait_goes_behind_those_who_wait() {
        let mut in_flight = with_campaigns(1..=1, 3);
        let first = in_flight.next(Priority::Bulk).unwrap();
        in_flight.decide(first.tag, Decision::AtTime(1_000));
        in_flight.wake(1_000);
        let order = std::iter::from_fn(|| in_flight.next(Priority::Bulk));
        let order: Vec<u16> = order.map(|ready| ready.tag.recipient).collect();
        assert_eq!(order, [1, 2, 0]);
        assert_eq!(in_flight.waits(first.tag), 1);
        in_flight.decide(first.tag, Decision::Submitted(vec!["1".to_owned()]));
        assert_eq!(in_flight.waits(first.tag), 0, "nothing is left of it");
    }

    /// Some campaigns in hand, each to so many.
    fn with_campaigns(ids: RangeInclusive<i64>, recipients: u64) -> InFlight {
        let mut in_flight = InFlight::default();
        for id in ids {
            let claimed = campaign(id, recipients);
            let pages = Pages::new(&claimed, "", Some(1_000));
            in_flight.take(claimed, pages, true);
        }
        in_flight
    }

    #[test]
    fn updates_are_taken_out_oldest_first_up_to_a_bound() {
        let plan = plan();
        let mut in_flight = with_campaigns(1..=3, 10);
        while let Some(ready) = in_flight.next(Priority::Bulk) {
            in_flight.decide(ready.tag, Decision::Submitted(vec!["1".to_owned()]));
        }
        let mut taken = |enough| {
            let (progress, accounted) = in_flight.progress(&plan, 0, enough);
            let ids: Vec<i64> = progress.iter().map(|one| one.batch.id).collect();
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
        // One of each batch at a time.
        let tags: Vec<Tag> = std::iter::from_fn(|| in_flight.next(Priority::Bulk))
            .map(|ready| ready.tag)
            .collect();
        let submit = |in_flight: &mut InFlight, place: u16| {
            for tag in tags.iter().filter(|tag| tag.recipient == place) {
                in_flight.decide(*tag, Decision::Submitted(vec!["1".to_owned()]));
            }
        };
        let taken = |in_flight: &mut InFlight| -> Vec<(i64, usize)> {
            let (progress, _) = in_flight.progress(&plan, 0, 100);
            let reported = progress.iter();
            reported
                .map(|one| (one.batch.id, one.submitted.len()))
                .collect()
        };
        submit(&mut in_flight, 0);
        assert_eq!(taken(&mut in_flight), [(1, 1), (2, 1)]);
        submit(&mut in_flight, 1);
        in_flight.hold_back(1);
        assert_eq!(taken(&mut in_flight), [(2, 1)]);
        submit(&mut in_flight, 2);
        assert_eq!(taken(&mut in_flight), [(2, 1)]);
        assert!(!in_flight.has_updates() && !in_flight.is_empty());
        in_flight.let_go(1);
        assert_eq!(taken(&mut in_flight), [(1, 2)]);
        assert!(in_flight.is_empty());
    }
}
