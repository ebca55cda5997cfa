//! The state of a carrier that all stages share: settings, budget, inbox and flags.

use crate::context::budget::Budget;
use crate::settings::{CarrierSettings, SmppSettings};
use domain::Priority;
use parking_lot::Mutex;
use smpp::PduLog;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use store::Claimed;
use tokio::sync::Notify;
use tokio::sync::watch::Sender;

/// Maximum number of claimed recipients of the simulated carrier.
const SANDBOX_RECIPIENTS: usize = 15_000;

/// A carrier and its shared state.
pub(crate) struct Carrier {
    pub(crate) name: Arc<str>,
    /// `None` for the simulated carrier of the sandbox.
    pub(crate) settings: Option<Arc<CarrierSettings>>,
    pub(crate) budget: Budget,
    /// Claimed batches for the worker. `None` once the worker has ended.
    pub(crate) inbox: Mutex<Option<Vec<Claimed>>>,
    pub(crate) wake: Notify,
    /// `true` if due batches may wait in the database.
    pub(crate) backlog: AtomicBool,
    /// `true` if one-time passwords may be among the due batches.
    pub(crate) urgent: AtomicBool,
    /// Number of connections that take submits.
    pub(crate) up: AtomicUsize,
    /// `true` if another node has such a connection.
    pub(crate) up_elsewhere: AtomicBool,
    /// The bind slots that this node holds.
    pub(crate) slots: Sender<BTreeSet<i64>>,
    /// The slots with a bound connection.
    pub(crate) bound: Mutex<BTreeSet<i64>>,
    /// `true` if other nodes removed this node as dead, and its worker has not handled that yet.
    pub(crate) lost_lease: AtomicBool,
    /// `true` if the worker must release recipients that may not be sent now.
    pub(crate) withheld: AtomicBool,
    /// `true` if an ambiguous receipt was logged.
    pub(crate) unclear_logged: AtomicBool,
    /// `true` if the worker has started.
    pub(crate) running: AtomicBool,
    /// `true` if the worker must end.
    pub(crate) closing: Sender<bool>,
    /// The last PDUs of all connections of this node.
    pub(crate) pdus: PduLog,
}

impl Carrier {
    pub(crate) fn new(name: Arc<str>, settings: Option<CarrierSettings>) -> Self {
        // The budget of a real carrier follows from the bind slots that this node gets later.
        let recipients = if settings.is_some() {
            0
        } else {
            SANDBOX_RECIPIENTS
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
            pdus: PduLog::default(),
        }
    }

    /// Returns the settings of SMPP, if the carrier uses it. The simulated carrier has none.
    pub(crate) fn smpp(&self) -> Option<&SmppSettings> {
        self.settings.as_ref()?.smpp()
    }

    /// Returns `true` if the carrier uses HTTP.
    pub(crate) fn is_http(&self) -> bool {
        let settings = self.settings.as_ref();
        settings.is_some_and(|settings| settings.http().is_some())
    }

    /// Returns `true` if this node has a connection that takes submits.
    pub(crate) fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed) > 0
    }

    /// Returns `true` if any node has a connection that takes submits.
    pub(crate) fn is_up_anywhere(&self) -> bool {
        self.is_up() || self.up_elsewhere.load(Ordering::Relaxed)
    }

    /// Sets the bind slots of this node, and whether another node has a bound connection.
    pub(crate) fn hold(&self, slots: BTreeSet<i64>, up_elsewhere: bool) {
        self.up_elsewhere.store(up_elsewhere, Ordering::Relaxed);
        self.slots.send_if_modified(|held| {
            let changed = *held != slots;
            *held = slots;
            changed
        });
    }

    /// Assigns all bind slots to this process, because there is no other node.
    pub(crate) fn hold_all(&self) {
        if let Some(settings) = &self.settings {
            let all = i64::try_from(settings.binds).unwrap_or(i64::MAX);
            self.hold((1..=all).collect(), false);
        }
    }

    /// Notifies the worker that an operator changed the control of this carrier.
    pub(crate) fn note_control(&self, submits: bool) {
        if submits {
            self.note_backlog();
        } else {
            self.withheld.store(true, Ordering::Relaxed);
        }
        // The worker assigns its slots anew at each change of them, with rate and connections.
        self.slots.send_modify(|_| {});
        self.wake.notify_one();
    }

    /// Returns the slots with a bound connection.
    pub(crate) fn bound(&self) -> BTreeSet<i64> {
        self.bound.lock().clone()
    }

    pub(crate) fn set_bound(&self, bound: BTreeSet<i64>) {
        *self.bound.lock() = bound;
    }

    /// Notifies the worker that this node was removed as dead, so other nodes hold its slots.
    pub(crate) fn lose_lease(&self) {
        if self.settings.is_some() {
            self.hold(BTreeSet::new(), false);
        }
        self.lost_lease.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Counts an ambiguous receipt: its id belongs to too many pages to choose one. Only the first
    /// is logged.
    pub(crate) fn note_unclear(&self) {
        crate::context::metrics::unclear(&self.name);
        if !self.unclear_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                carrier.name = &*self.name,
                "carrier: receipt without effect, several pages have its id (further ones counted in \
                 ogene_receipts_unclear_total)"
            );
        }
    }

    pub(crate) fn take_lost_lease(&self) -> bool {
        self.lost_lease.swap(false, Ordering::Relaxed)
    }

    /// Takes budget for a batch that is about to be accepted, so that it is dispatched right after
    /// its commit. While batches wait in the database, only one-time passwords may overtake them.
    pub(crate) fn try_take(&self, batch: &store::Batch) -> bool {
        let first = batch.priority == Priority::Otp || !self.backlog.load(Ordering::Relaxed);
        self.is_up() && first && self.budget.try_take(batch.recipients.len(), batch.priority)
    }

    /// Passes a claimed batch to the worker. Returns it if the worker has ended.
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

    /// Closes the inbox. Returns the batches in it.
    pub(crate) fn end(&self) -> Vec<Claimed> {
        let mut inbox = self.inbox.lock();
        inbox.take().unwrap_or_default()
    }

    /// Returns `true` if the worker has started.
    pub(crate) fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Makes the worker finish its submits, unbind and end.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Notifies the worker that batches wait in the database.
    pub(crate) fn arrived(&self) {
        self.note_backlog();
        self.wake.notify_one();
    }

    pub(crate) fn note_backlog(&self) {
        self.backlog.store(true, Ordering::Relaxed);
        self.urgent.store(true, Ordering::Relaxed);
    }

    /// Records the result of a claim. A claim that found batches may have left more in the
    /// database. It may have left one-time passwords only if it found nothing else, since a claim
    /// takes them first.
    pub(crate) fn note_claimed(&self, asked: usize, claimed: &[Claimed]) {
        let got = claimed.iter().map(|claimed| claimed.batch.recipients.len());
        let got = got.sum::<usize>().min(asked);
        self.budget.put(asked - got);
        if got > 0 {
            let mut priorities = claimed.iter().map(|claimed| claimed.batch.priority);
            let urgent = priorities.all(|priority| priority == Priority::Otp);
            self.backlog.store(true, Ordering::Relaxed);
            self.urgent.fetch_or(urgent, Ordering::Relaxed);
        }
    }

    /// Returns the number and lowest priority of recipients to claim now, or `None`. If only the
    /// reserve for one-time passwords is free, only those are claimed. While recipients wait in
    /// memory, a claim below the minimum is not made.
    pub(crate) fn claimable(&self, recipients_wait: bool) -> Option<(usize, Priority)> {
        let available = self.budget.available(Priority::Bulk);
        let enough = if recipients_wait {
            self.budget.min_claim()
        } else {
            1
        };
        if available >= enough && self.backlog.load(Ordering::Relaxed) {
            return Some((available, Priority::Bulk));
        }
        let available = self.budget.available(Priority::Otp);
        (available > 0 && self.urgent.load(Ordering::Relaxed)).then_some((available, Priority::Otp))
    }

    /// Clears the backlog flags before a claim reads the database.
    pub(crate) fn note_claim(&self, priority: Priority) {
        self.urgent.store(false, Ordering::Relaxed);
        if priority != Priority::Otp {
            self.backlog.store(false, Ordering::Relaxed);
        }
    }

    /// Makes the worker release recipients of accounts that may not send.
    pub(crate) fn withhold(&self) {
        self.withheld.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    pub(crate) fn take_withheld(&self) -> bool {
        self.withheld.swap(false, Ordering::Relaxed)
    }
}
