//! The worker of one carrier. It owns the state, the connections and the receipts.

use super::completed::{Busy, Completed};
use super::decision::Tag;
use super::failover;
use super::inboxes::Inboxes;
use super::logs;
use super::report::{PendingAck, ReportSink, WorkerReport};
use super::slots::BindSlots;
use super::state::State;
use super::submit::{self, Open};
use super::transport::{BoundSession, LinkEvent, LinkId, Submits};
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::outcome::Outcome;
use domain::SubmitFault;
use smpp::{CommandStatus, Event};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;

/// Maximum number of quarantined fragments of reports. If the database refuses more, a single row
/// is not the cause, and the carrier waits.
const MAX_ASIDE: usize = 100;

/// The worker of one carrier.
pub(crate) struct CarrierWorker {
    context: Arc<Context>,
    carrier: Arc<Carrier>,
    pub(crate) state: State,
    pub(crate) slots: BindSlots,
    pub(crate) inboxes: Inboxes,
    reports: ReportSink,
    done: mpsc::UnboundedSender<Completed>,
    busy: Busy,
    /// `true` if queued recipients wait for a free window. Only a response frees it.
    window_full: bool,
    /// The steady time at which the last connection was lost. A clock step does not affect it.
    down_since_ms: i64,
}

impl CarrierWorker {
    pub(crate) fn new(
        context: Arc<Context>,
        carrier: Arc<Carrier>,
        slots: BindSlots,
        reports: ReportSink,
        done: mpsc::UnboundedSender<Completed>,
    ) -> Self {
        Self {
            state: State::new(Arc::clone(&context), Arc::clone(&carrier)),
            inboxes: Inboxes::new(Arc::clone(&context), &carrier),
            busy: Busy::default(),
            window_full: false,
            down_since_ms: context.clock.steady_ms(),
            context,
            carrier,
            slots,
            reports,
            done,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.slots.is_empty()
            && self.state.in_flight.is_empty()
            && !self.busy.reporting
            && !self.busy.claiming
            && self.busy.aside == 0
            && self.inboxes.are_empty()
    }

    /// Returns when the worker must run again, or `None` if only an event can give it work.
    pub(crate) fn pause(&self) -> Option<Duration> {
        if !self.carrier.is_up() {
            return None;
        }
        let waiting = self.state.in_flight.waiting();
        let claims = !self.busy.claiming && self.state.control().submits();
        let backlog = claims && self.carrier.claimable(waiting > 0).is_some();
        self.state.wait(waiting > 0 && !self.window_full, backlog)
    }

    /// Performs all work that is possible now.
    pub(crate) fn step(&mut self) {
        for claimed in self.carrier.take_inbox() {
            self.state.take(claimed);
        }
        if self.carrier.take_lost_lease() || self.state.closing {
            self.state.put_back_unsent();
        }
        self.state.put_back_withheld();
        let steady_ms = self.context.clock.steady_ms();
        self.state.in_flight.queue_delayed(steady_ms);
        self.dispatch();
        self.report();
        self.inboxes.keep(&self.slots, &self.done);
        self.claim();
        self.state.measures.window(self.slots.outstanding());
    }

    /// Takes the bind slots of this node, and its share of budget and pace.
    pub(crate) fn assign_slots(&mut self) {
        let Some(settings) = self.carrier.settings.clone() else {
            return;
        };
        self.state.measures.control(self.state.control());
        let is_drained = self.state.is_drained() && !self.busy.claiming;
        let held = self.slots.assign(self.state.closing, is_drained);
        self.carrier.budget.resize(settings.in_doubt_limit * held);
        self.state.set_share(&settings, held);
        self.count_connections();
    }

    fn count_connections(&mut self) {
        let up = self.slots.note_bound();
        if up == 0 && self.carrier.is_up() {
            self.down_since_ms = self.context.clock.steady_ms();
        }
        self.carrier.up.store(up, Ordering::Relaxed);
        self.state.measures.binds(self.slots.len());
    }

    pub(crate) fn link_event(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Up {
                link,
                session,
                submits,
            } => {
                self.inboxes.bound(link);
                self.slots.up(link, session, submits, self.state.closing);
                self.count_connections();
                self.carrier.arrived();
            }
            LinkEvent::Down { link } => {
                self.slots.down(link);
                self.inboxes.lost(link);
                self.count_connections();
            }
            LinkEvent::Answered { link, outcomes } => {
                for (tag, outcome) in outcomes {
                    self.answered(link, tag, outcome);
                }
            }
            LinkEvent::Events { link, events } => {
                for event in events {
                    self.event(link, event);
                }
            }
        }
    }

    fn event(&mut self, link: LinkId, event: Event) {
        match event {
            Event::Submitted { tag, outcome } => self.answered(link, tag, outcome.into()),
            Event::Deliver { sequence, deliver } => {
                let origin = (link, sequence);
                let places = (&mut self.state, &self.slots);
                self.inboxes.deliver(origin, *deliver, places);
            }
            Event::Closed(reason) => logs::closed(&self.carrier.name, link, reason),
        }
    }

    /// Handles the outcome of a submit.
    fn answered(&mut self, link: LinkId, tag: u64, outcome: Outcome) {
        self.note_response(link, &outcome);
        self.state.record(Tag::from_number(tag), outcome);
    }

    /// Counts a response, and derives the state of carrier and connection from it.
    fn note_response(&mut self, link: LinkId, outcome: &Outcome) {
        let is_first = self.state.measures.response(outcome);
        match outcome {
            Outcome::Accepted { .. } => self.state.pace.accepted(),
            Outcome::Rejected(rejection) => {
                if is_first {
                    logs::refused(&self.carrier, rejection);
                }
                // Without a new bind, recipients would be submitted and rejected without end.
                if rejection.fault() == SubmitFault::NotBound {
                    self.slots.unbind(link);
                    self.count_connections();
                }
            }
            Outcome::NotSent | Outcome::RefusedTogether | Outcome::Unknown => {}
        }
    }

    /// Answers segments of receipts that waited long enough.
    pub(crate) fn time_out_segments(&mut self) {
        self.inboxes.time_out((&mut self.state, &self.slots));
    }

    /// Distributes queued recipients over the connections, as far as windows and pace allow. The
    /// rest stays queued in memory, where urgent recipients overtake it.
    fn dispatch(&mut self) {
        self.window_full = false;
        let state = &mut self.state;
        if state.in_flight.waiting() == 0 || !self.context.nodes.holds() {
            return;
        }
        let mut pace = state.pace.available(self.context.clock.steady_ms());
        let window = self.carrier.settings.as_ref().map(|all| all.window);
        let open = self.slots.submitting();
        let open = open.map(|(link, session)| Open::new(link, session, window));
        let links = submit::by_load(open.collect());
        for (before, open) in links.iter().enumerate() {
            let share = self.state.in_flight.waiting() / (links.len() - before);
            let submits = self.state.fill(share, open.free_window, &mut pace);
            self.submit(open.link, submits);
        }
        self.window_full = pace > 0 && self.state.in_flight.waiting() > 0;
    }

    fn submit(&mut self, link: LinkId, submits: Submits) {
        if submits.len() == 0 {
            return;
        }
        if let Err(returned) = self.slots.submit(link, submits) {
            // The connection is ending, and its event follows.
            self.count_connections();
            for tag in returned.tags() {
                self.state.record(Tag::from_number(tag), Outcome::NotSent);
            }
        }
    }

    /// Sends outcomes and receipts to the settle stage, one report at a time.
    fn report(&mut self) {
        let in_flight = &mut self.state.in_flight;
        if self.busy.reporting || (!in_flight.has_updates() && self.inboxes.receipts.is_empty()) {
            return;
        }
        let now_ms = self.context.clock.now_ms();
        let max = self.context.commit_share.max_outcomes(now_ms);
        let plan = &self.context.live().plan;
        let (progress, accounted) = in_flight.progress(plan, now_ms, max);
        let count = self.inboxes.receipts.len().min(max.max(accounted));
        if progress.is_empty() && count == 0 {
            // All outcomes belong to blocked batches.
            return;
        }
        let (receipts, answers) = self
            .inboxes
            .receipts
            .take(count, |link| self.slots.session(link));
        self.busy.reporting = true;
        (self.reports)(WorkerReport {
            progress,
            receipts,
            ack: PendingAck {
                carrier: Arc::clone(&self.carrier.name),
                accounted,
                answers,
                aside: MAX_ASIDE.saturating_sub(self.busy.aside),
                done: self.done.clone(),
            },
        });
    }

    /// Claims as many recipients as the budget and the pace allow.
    fn claim(&mut self) {
        let able = self.carrier.is_up() && self.context.nodes.holds();
        let is_stopped = self.state.closing || !self.state.control().submits();
        if self.busy.claiming || is_stopped || !able {
            return;
        }
        let waiting = self.state.in_flight.waiting();
        let Some((available, priority)) = self.carrier.claimable(waiting > 0) else {
            return;
        };
        let clock = &self.context.clock;
        let (now_ms, steady_ms) = (clock.now_ms(), clock.steady_ms());
        // Queued recipients use up the pace first. A tiny claim would cost as much as a large one.
        let pace = self.state.pace.available(steady_ms).saturating_sub(waiting);
        let asked = available.min(pace);
        if asked == 0
            || pace < self.state.pace.min_claim()
            || !self.carrier.budget.try_take(asked, priority)
        {
            return;
        }
        // A batch that arrives during the claim sets the flag again.
        self.carrier.note_claim(priority);
        self.busy.claiming = true;
        let context = Arc::clone(&self.context);
        let claim = context.claim(&self.carrier.name, asked, priority, now_ms);
        let done = self.done.clone();
        tokio::spawn(async move {
            let _ = done.send(submit::claim(context, claim, asked).await);
        });
    }

    /// Moves queued batches to other carriers if this one was down for too long.
    pub(crate) fn fail_over(&mut self) {
        let is_due = failover::is_due(&self.context, &self.carrier, self.down_since_ms);
        if self.busy.failing_over || self.state.closing || !is_due {
            return;
        }
        self.busy.failing_over = true;
        // Unsent recipients are put back first, and move with the next failover. An operator's stop
        // has put them back already.
        if !self.carrier.is_up() {
            self.state.put_back_unsent();
        }
        let now_ms = self.context.clock.now_ms();
        let (context, name) = (Arc::clone(&self.context), Arc::clone(&self.carrier.name));
        let done = self.done.clone();
        tokio::spawn(async move {
            failover::fail_over(context, name, now_ms).await;
            let _ = done.send(Completed::FailedOver);
        });
    }

    /// Handles the result of a background operation.
    pub(crate) fn completed(&mut self, done: Completed) {
        match done {
            Completed::Reported {
                parked,
                accounted,
                answers,
                aside,
            } => {
                self.busy.reporting = false;
                self.busy.aside += aside.len();
                let batches = aside.into_iter().flatten();
                batches.for_each(|batch| self.state.in_flight.block(batch));
                self.carrier.budget.put(accounted);
                self.acknowledge(parked, answers);
            }
            Completed::CommittedAtLast {
                batch,
                parked,
                answers,
            } => {
                self.busy.aside -= 1;
                if let Some(batch) = batch {
                    self.state.in_flight.unblock(batch);
                }
                self.acknowledge(parked, answers);
            }
            Completed::Claimed { asked, claimed } => {
                self.busy.claiming = false;
                self.carrier.note_claimed(asked, &claimed);
                for claimed in claimed {
                    self.state.take_claimed(claimed);
                }
            }
            Completed::ClaimFailed { asked } => {
                self.busy.claiming = false;
                self.carrier.budget.put(asked);
                self.carrier.note_backlog();
            }
            Completed::FailedOver => self.busy.failing_over = false,
            Completed::InboundKept { answers } => {
                self.inboxes.kept();
                for (session, answers) in answers {
                    session.answer(answers);
                }
            }
        }
    }

    /// Answers the committed receipts.
    fn acknowledge(&self, parked: usize, answers: Vec<(BoundSession, Vec<u32>)>) {
        for (session, sequences) in answers {
            let ok = |sequence| (sequence, CommandStatus::ROK);
            session.answer(sequences.into_iter().map(ok).collect());
        }
        self.state.measures.parked(parked);
    }

    /// Puts back recipients that are not on the wire. Unbinds after the responses of the others.
    pub(crate) fn close(&mut self) {
        self.state.closing = true;
        self.slots.unbind_all();
        self.assign_slots();
        self.state.put_back_unsent();
    }

    /// Releases the batches that were enqueued while this worker ended.
    pub(crate) fn leave(&self) {
        let left = self.carrier.end().into_iter();
        let left: Vec<_> = left.map(|one| one.batch).collect();
        if !left.is_empty() {
            let now_ms = self.context.clock.now_ms();
            self.context.release(left, now_ms, None);
        }
    }
}
