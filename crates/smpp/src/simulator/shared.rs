//! The state that the connections of a simulator share.

use super::account::Account;
use super::script::Script;
use crate::pdu::SubmitSm;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::time::Instant;

/// The statistics of a simulator.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stats {
    /// Accepted connections.
    pub connections: u64,
    /// Granted binds.
    pub binds: u64,
    /// Rejected binds.
    pub refused_binds: u64,
    /// Received `submit_sm`.
    pub submits: u64,
    /// Accepted `submit_sm`.
    pub accepted: u64,
    /// Rejected `submit_sm`.
    pub refused: u64,
    /// Written receipts and messages, including repeated ones.
    pub delivered: u64,
    /// Receipts and messages that the client accepted.
    pub answered: u64,
    /// Receipts and messages that were queued again, because the client was gone or rejected them
    /// for now.
    pub put_back: u64,
    /// Receipts and messages that exceeded the queue or did not fit into a PDU.
    pub lost: u64,
    /// PDUs that were malformed, unknown or not allowed in their state.
    pub odd_pdus: u64,
    /// Largest number of `submit_sm` that waited for a delayed response on one connection.
    pub most_unanswered: u64,
}

impl Stats {
    pub(super) fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.binds += other.binds;
        self.refused_binds += other.refused_binds;
        self.submits += other.submits;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.delivered += other.delivered;
        self.answered += other.answered;
        self.put_back += other.put_back;
        self.lost += other.lost;
        self.odd_pdus += other.odd_pdus;
        self.most_unanswered = self.most_unanswered.max(other.most_unanswered);
    }
}

/// A received message, kept if [`Script::record`] is not zero.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Received {
    /// The system id of the client.
    pub system_id: String,
    /// The message id in the response, or `None` if it was not accepted.
    pub message_id: Option<String>,
    /// The message.
    pub submit: SubmitSm,
}

/// The state that all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) script: RwLock<Arc<Script>>,
    pub(super) accounts: Mutex<HashMap<String, Arc<Account>>>,
    pub(super) stats: Mutex<Stats>,
    pub(super) received: Mutex<VecDeque<Received>>,
    last_message_id: AtomicU64,
    pub(super) last_connection: AtomicU64,
    started_at: Instant,
}

impl Shared {
    pub(super) fn new(script: Script) -> Self {
        Self {
            last_message_id: AtomicU64::new(script.last_message_id),
            last_connection: AtomicU64::new(0),
            script: RwLock::new(Arc::new(script)),
            accounts: Mutex::default(),
            stats: Mutex::default(),
            received: Mutex::default(),
            started_at: Instant::now(),
        }
    }

    pub(super) fn script(&self) -> Arc<Script> {
        let script = self.script.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&script)
    }

    pub(super) fn account(&self, system_id: &str) -> Arc<Account> {
        let mut accounts = lock(&self.accounts);
        if let Some(account) = accounts.get(system_id) {
            return Arc::clone(account);
        }
        let account = Arc::new(Account::default());
        accounts.insert(system_id.to_owned(), Arc::clone(&account));
        account
    }

    pub(super) fn next_message_id(&self) -> u64 {
        self.last_message_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the Unix time in seconds by the clock of the script.
    pub(super) fn unix_s(&self, script: &Script, now: Instant) -> u64 {
        script.started_at_s + now.duration_since(self.started_at).as_secs()
    }

    pub(super) fn record(&self, limit: usize, received: Received) {
        let mut all = lock(&self.received);
        while all.len() >= limit {
            all.pop_front();
        }
        all.push_back(received);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
