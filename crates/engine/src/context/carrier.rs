//! A carrier, as all stages know it: its settings, its budget, its inbox and its state.

use crate::context::budget::Budget;
use crate::settings::CarrierSettings;
use domain::Priority;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use store::Claimed;
use tokio::sync::Notify;
use tokio::sync::watch::Sender;

/// Recipients that the simulated carrier may have in flight.
const SANDBOX_WINDOW: usize = 10_000;

/// A carrier, as the rest of the engine sees it.
pub(crate) struct Carrier {
    pub(crate) name: Arc<str>,
    /// `None` for the simulated carrier of the sandbox.
    pub(crate) settings: Option<Arc<CarrierSettings>>,
    pub(crate) budget: Budget,
    /// The batches that the worker is to take, as long as there is one.
    pub(crate) inbox: Mutex<Option<Vec<Claimed>>>,
    pub(crate) wake: Notify,
    /// `true` if due batches may wait in the database.
    pub(crate) backlog: AtomicBool,
    /// `true` if one-time passwords may be among them.
    pub(crate) urgent: AtomicBool,
    /// Connections on which messages go out.
    pub(crate) up: AtomicUsize,
    /// `true` if another node has such a connection.
    pub(crate) up_elsewhere: AtomicBool,
    /// The connections that this node may have.
    pub(crate) slots: Sender<BTreeSet<i64>>,
    /// The slots that are bound.
    pub(crate) bound: Mutex<BTreeSet<i64>>,
    /// `true` if this node was taken for dead, and its worker does not know yet.
    pub(crate) lost_lease: AtomicBool,
    /// `true` if the worker is to look through what it has in hand for accounts that may not send.
    pub(crate) withheld: AtomicBool,
    /// `true` if the log has named receipts of it that could mean too many pages.
    pub(crate) unclear_logged: AtomicBool,
    /// `true` if the worker has begun.
    pub(crate) running: AtomicBool,
    /// `true` if the worker is to end.
    pub(crate) closing: Sender<bool>,
}

impl Carrier {
    pub(crate) fn new(name: Arc<str>, settings: Option<CarrierSettings>) -> Self {
        // The budget of a real carrier comes with the connections that this node is given.
        let recipients = if settings.is_some() {
            0
        } else {
            SANDBOX_WINDOW
        };
        Self {
            name,
            settings: settings.map(Arc::new),
            budget: Budget::new(recipients),
            inbox: Mutex::new(Some(Vec::new())),
            wake: Notify::new(),
            backlog: AtomicBool::new(true),
            urgent: AtomicBool::new(true),
            up: AtomicUsize::new(0),
            up_elsewhere: AtomicBool::new(false),
            slots: Sender::default(),
            bound: Mutex::default(),
            lost_lease: AtomicBool::new(false),
            withheld: AtomicBool::new(false),
            unclear_logged: AtomicBool::new(false),
            running: AtomicBool::new(false),
            closing: Sender::default(),
        }
    }

    /// Returns `true` if messages go out on this node.
    pub(crate) fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if messages go out on any node.
    pub(crate) fn is_up_anywhere(&self) -> bool {
        self.is_up() || self.up_elsewhere.load(Ordering::Relaxed)
    }

    /// Gives this node these connections, and tells whether another one has any that are bound.
    pub(crate) fn hold(&self, slots: BTreeSet<i64>, up_elsewhere: bool) {
        self.up_elsewhere.store(up_elsewhere, Ordering::Relaxed);
        self.slots.send_if_modified(|held| {
            let changed = *held != slots;
            *held = slots;
            changed
        });
    }

    /// Gives this process all connections: there is no other.
    pub(crate) fn hold_all(&self) {
        if let Some(settings) = &self.settings {
            let all = i64::try_from(settings.binds).unwrap_or(i64::MAX);
            self.hold((1..=all).collect(), false);
        }
    }

    /// The connections of this node that are bound.
    pub(crate) fn bound(&self) -> BTreeSet<i64> {
        self.bound.lock().clone()
    }

    pub(crate) fn set_bound(&self, bound: BTreeSet<i64>) {
        *self.bound.lock() = bound;
    }

    /// Tells the worker that this node was taken for dead: its connections are others' now.
    pub(crate) fn lose_lease(&self) {
        if self.settings.is_some() {
            self.hold(BTreeSet::new(), false);
        }
        self.lost_lease.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Counts a receipt whose id more pages have than can be told apart, and logs the first.
    pub(crate) fn note_unclear(&self) {
        crate::context::metrics::unclear(&self.name);
        if !self.unclear_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                carrier.name = &*self.name,
                "a receipt is answered and settles nothing, since the carrier gave its id to more pages than it tells apart; \
                 more of them are only counted, as ogene_receipts_unclear_total. Ask the carrier for an id of its own for \
                 each message"
            );
        }
    }

    pub(crate) fn take_lost_lease(&self) -> bool {
        self.lost_lease.swap(false, Ordering::Relaxed)
    }

    /// Takes room for a batch that is about to be accepted, so that it can go out as soon as it is. Nothing
    /// overtakes what waits in the database, but one-time passwords.
    pub(crate) fn try_take(&self, batch: &store::Batch) -> bool {
        let first = batch.priority == Priority::Otp || !self.backlog.load(Ordering::Relaxed);
        self.is_up() && first && self.budget.try_take(batch.recipients.len(), batch.priority)
    }

    /// Hands over a batch that is claimed for this node, room taken; gives it back where the worker has ended.
    pub(crate) fn enqueue(&self, claimed: Claimed) -> Result<(), Box<Claimed>> {
        let mut inbox = self.inbox.lock();
        let Some(inbox) = &mut *inbox else {
            return Err(Box::new(claimed));
        };
        inbox.push(claimed);
        self.wake.notify_one();
        Ok(())
    }

    pub(crate) fn take_inbox(&self) -> Vec<Claimed> {
        let mut inbox = self.inbox.lock();
        inbox.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// From now on nothing can be handed over; gives what was.
    pub(crate) fn end(&self) -> Vec<Claimed> {
        let mut inbox = self.inbox.lock();
        inbox.take().unwrap_or_default()
    }

    /// Returns `true` if the worker has begun.
    pub(crate) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Makes the worker finish what is in flight, unbind and end.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Tells that batches wait in the database.
    pub(crate) fn arrived(&self) {
        self.note_backlog();
        self.wake.notify_one();
    }

    pub(crate) fn note_backlog(&self) {
        self.backlog.store(true, Ordering::Relaxed);
        self.urgent.store(true, Ordering::Relaxed);
    }

    /// Notes the end of a claim. One that found batches may have left more: one-time passwords only if it found nothing
    /// else, as urgent batches come first.
    pub(crate) fn note_claimed(&self, asked: usize, claimed: &[Claimed]) {
        let got = claimed.iter().map(|claimed| claimed.batch.recipients.len());
        let got = got.sum::<usize>().min(asked);
        self.budget.give(asked - got);
        if got > 0 {
            let mut priorities = claimed.iter().map(|claimed| claimed.batch.priority);
            let urgent = priorities.all(|priority| priority == Priority::Otp);
            self.backlog.store(true, Ordering::Relaxed);
            self.urgent.fetch_or(urgent, Ordering::Relaxed);
        }
    }

    /// How many recipients of which priority may be claimed now, if any may wait. Where all room but that of
    /// one-time passwords is taken, only those are asked for. While others wait in hand a portion is worth a claim.
    pub(crate) fn claimable(&self, others_wait: bool) -> Option<(usize, Priority)> {
        let room = self.budget.room(Priority::Bulk);
        let enough = if others_wait {
            self.budget.portion()
        } else {
            1
        };
        if room >= enough && self.backlog.load(Ordering::Relaxed) {
            return Some((room, Priority::Bulk));
        }
        let room = self.budget.room(Priority::Otp);
        (room > 0 && self.urgent.load(Ordering::Relaxed)).then_some((room, Priority::Otp))
    }

    /// A claim of that priority is about to see all that has arrived so far.
    pub(crate) fn note_claim(&self, priority: Priority) {
        self.urgent.store(false, Ordering::Relaxed);
        if priority != Priority::Otp {
            self.backlog.store(false, Ordering::Relaxed);
        }
    }

    /// Makes the worker look through what it has in hand.
    pub(crate) fn withhold(&self) {
        self.withheld.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    pub(crate) fn take_withheld(&self) -> bool {
        self.withheld.swap(false, Ordering::Relaxed)
    }
}
