//! The task of one carrier.

use super::bind::{LinkEvent, LinkId, Wire};
use super::completed::Done;
use super::in_flight::{Hand, Tag};
use super::segments::{Origin, Segments};
use super::slots::Slots;
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::metrics::CarrierMeasures;
use domain::Pace;
use smpp::{CloseReason, Event, ReceiptIds};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::Receipt;
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;

/// How often the desk looks at the state of things without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Groups of events that wait; connections that bring more wait themselves. A group may hold as much as a session lets
/// wait unread.
const EVENT_QUEUE: usize = 8;
/// The share of a carrier: while its receipts that are not committed take so much memory, nothing more is read from its
/// connections.
const MAX_WAITING_OCTETS: usize = 8 * 1024 * 1024;

/// A connection in use.
pub(crate) struct Bound {
    pub(crate) wire: Wire,
    /// Whether messages go out on it: it is no receiver, and has not begun to end.
    pub(crate) submits: bool,
}

/// A receipt that came, and how it is to be answered.
pub(crate) struct Heard {
    pub(crate) receipt: Receipt,
    /// The connection that it came on, while that lasts.
    pub(crate) link: Option<LinkId>,
    pub(crate) sequence: u32,
    /// The other segments that are answered with it, where it was cut.
    pub(crate) segments: Vec<Origin>,
}

impl Heard {
    /// The memory that it takes.
    pub(crate) fn octets(&self) -> usize {
        let Receipt {
            carrier_id,
            other_id,
            sender,
            error,
            ..
        } = &self.receipt;
        let others = [other_id, error].into_iter().flatten().map(String::len);
        size_of::<Self>() + carrier_id.len() + sender.len() + others.sum::<usize>()
    }
}

/// Which steps are under way in the background: one of each kind at a time.
#[derive(Default)]
pub(crate) struct Busy {
    pub(crate) reporting: bool,
    pub(crate) claiming: bool,
    pub(crate) failing_over: bool,
    /// So much is tried again by itself.
    pub(crate) aside: usize,
}

/// All that the task of a carrier holds.
pub(crate) struct Desk {
    pub(crate) shared: Arc<Context>,
    pub(crate) carrier: Arc<Carrier>,
    pub(crate) measures: CarrierMeasures,
    pub(crate) ids: ReceiptIds,
    pub(crate) hand: Hand,
    pub(crate) pace: Pace,
    pub(crate) wires: BTreeMap<LinkId, Bound>,
    pub(crate) slots: Slots,
    /// Receipts that are not committed yet.
    pub(crate) receipts: Vec<Heard>,
    /// The memory that they take.
    pub(crate) receipt_octets: usize,
    /// Receipts that wait for their other segments: those that the carrier marked as receipts, and what may be one.
    pub(crate) marked_segments: Segments,
    pub(crate) other_segments: Segments,
    pub(crate) done: mpsc::UnboundedSender<Done>,
    pub(crate) busy: Busy,
    /// What waits in hand waits for a place in a window: a response is what it needs, not time.
    pub(crate) crowded: bool,
    /// By the steady time, as is the pace: how long something takes is no matter of the clock.
    pub(crate) down_since_ms: i64,
    pub(crate) closing: bool,
}

/// Runs a carrier until it is closed and all that is in hand is accounted for.
pub(crate) async fn run(shared: Arc<Context>, carrier: Arc<Carrier>, tls: Option<TlsConnector>) {
    let mut closing = carrier.closing.subscribe();
    carrier.running.store(true, Ordering::Relaxed);
    let (events, mut arrived) = mpsc::channel(EVENT_QUEUE);
    // At most one report, one claim and one failover are under way.
    let (done, mut finished) = mpsc::unbounded_channel();
    let mut given = carrier.slots.subscribe();
    let slots = Slots::new(tls, events);
    let mut desk = Desk::new(shared, Arc::clone(&carrier), done, slots);
    if carrier.settings.is_none() {
        desk.connect_sandbox().await;
    }
    desk.reslot();
    let mut look = tokio::time::interval(LOOK_EVERY);
    while !desk.closing || !desk.slots.tasks.is_empty() || !desk.is_idle() {
        let pause = desk.pause();
        // What is rare comes first: what is not is looked at below, whatever happened.
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing), if !desk.closing => desk.close(),
            _ = look.tick() => {
                // Whether this node still holds what it was given is a matter of time.
                desk.reslot();
                desk.fail_over();
                desk.time_out_segments();
            }
            // The sender is the carrier's, which lives as long as its desk.
            _ = given.changed() => desk.reslot(),
            Some(Ok(slot)) = desk.slots.tasks.join_next() => desk.slot_ended(slot),
            () = carrier.wake.notified() => {}
            Some(done) = finished.recv() => desk.finished(done),
            Some(event) = arrived.recv(), if desk.has_room() => desk.link_event(event),
            () = rest(pause) => {}
        }
        while desk.has_room()
            && let Ok(event) = arrived.try_recv()
        {
            desk.link_event(event);
        }
        while let Ok(done) = finished.try_recv() {
            desk.finished(done);
        }
        desk.step();
    }
    desk.leave();
}

/// Waits for so long, or for ever.
async fn rest(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => pending().await,
    }
}

impl Desk {
    fn new(
        shared: Arc<Context>,
        carrier: Arc<Carrier>,
        done: mpsc::UnboundedSender<Done>,
        slots: Slots,
    ) -> Self {
        let steady_ms = shared.clock.steady_ms();
        let settings = carrier.settings.as_ref();
        Self {
            measures: CarrierMeasures::new(&carrier.name),
            ids: settings.map_or(ReceiptIds::Exact, |settings| settings.receipt_ids),
            pace: Pace::new(
                settings.and_then(|settings| settings.max_per_second),
                steady_ms,
            ),
            hand: Hand::default(),
            wires: BTreeMap::new(),
            receipts: Vec::new(),
            receipt_octets: 0,
            marked_segments: Segments::default(),
            other_segments: Segments::default(),
            busy: Busy::default(),
            crowded: false,
            down_since_ms: steady_ms,
            closing: false,
            shared,
            carrier,
            slots,
            done,
        }
    }

    /// Whether more receipts may come.
    fn has_room(&self) -> bool {
        self.receipt_octets < MAX_WAITING_OCTETS
    }

    fn is_idle(&self) -> bool {
        self.wires.is_empty()
            && self.hand.is_empty()
            && !self.busy.reporting
            && !self.busy.claiming
            && self.busy.aside == 0
            && self.receipts.is_empty()
    }

    /// How long nothing needs to be done, if nothing comes; for ever, where time alone changes nothing.
    fn pause(&self) -> Option<Duration> {
        if !self.carrier.is_up() {
            return None;
        }
        let backlog =
            !self.busy.claiming && self.carrier.claimable(self.hand.waiting() > 0).is_some();
        let waiting = self.hand.waiting() > 0 && !self.crowded;
        let submits = match (waiting, backlog) {
            (true, _) => 1,
            (false, true) => self.pace.portion(),
            (false, false) => return None,
        };
        let steady_ms = self.shared.clock.steady_ms();
        let wait_ms = (self.pace.next_ms(steady_ms, submits) - steady_ms).clamp(1, 1_000);
        Some(Duration::from_millis(wait_ms.unsigned_abs()))
    }

    /// Does all that can be done now.
    fn step(&mut self) {
        for claimed in self.carrier.take_handed() {
            self.take(claimed);
        }
        if self.carrier.take_lapse() || self.closing {
            self.put_back_unsent();
        }
        self.put_back_withheld();
        self.hand.wake(self.shared.clock.steady_ms());
        self.dispatch();
        self.report();
        self.claim();
        let outstanding = self.wires.values().map(|bound| bound.wire.outstanding());
        self.measures.window(outstanding.sum());
    }

    fn link_event(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Up {
                link,
                wire,
                submits,
            } => {
                let given = !self.closing && self.is_given(link);
                if !given {
                    wire.unbind();
                }
                let submits = submits && given;
                self.wires.insert(link, Bound { wire, submits });
                self.count_wires();
                self.carrier.arrived();
            }
            LinkEvent::Down { link } => {
                self.wires.remove(&link);
                self.receipts
                    .iter_mut()
                    .filter(|heard| heard.link == Some(link))
                    .for_each(|heard| heard.link = None);
                self.forget_segments(link);
                self.count_wires();
            }
            LinkEvent::Events { link, events } => {
                for event in events {
                    self.event(link, event);
                }
            }
        }
    }

    pub(crate) fn count_wires(&mut self) {
        let up = self.wires.values().filter(|bound| bound.submits).count();
        if up == 0 && self.carrier.is_up() {
            self.down_since_ms = self.shared.clock.steady_ms();
        }
        self.carrier.up.store(up, Ordering::Relaxed);
        self.note_bound();
        self.measures.binds(self.wires.len());
    }

    fn event(&mut self, link: LinkId, event: Event) {
        match event {
            Event::Submitted { tag, outcome } => {
                let tag = Tag::from_number(tag);
                self.note_response(link, &outcome);
                if let Some(answer) = self.hand.answered(tag, outcome) {
                    self.answered(tag, answer);
                }
            }
            Event::Deliver { sequence, deliver } => self.delivered((link, sequence), *deliver),
            Event::Closed(CloseReason::Unbound) => {
                tracing::info!(
                    carrier.name = &*self.carrier.name,
                    carrier.link = link,
                    "carrier unbound"
                );
            }
            Event::Closed(reason) => {
                tracing::warn!(
                    carrier.name = &*self.carrier.name,
                    carrier.link = link,
                    smpp.reason = %reason,
                    "carrier connection ended"
                );
            }
        }
    }

    /// Gives back what is not on the wire, and unbinds once the rest has its answer.
    fn close(&mut self) {
        self.closing = true;
        for bound in self.wires.values() {
            bound.wire.unbind();
        }
        self.reslot();
        self.put_back_unsent();
    }

    /// Gives back what was handed over while this ended: nobody sends it any more.
    fn leave(&self) {
        let left: Vec<_> = self
            .carrier
            .end()
            .into_iter()
            .map(|one| one.batch)
            .collect();
        if !left.is_empty() {
            let now_ms = self.shared.clock.now_ms();
            self.shared.release(left, now_ms, None);
        }
    }
}
