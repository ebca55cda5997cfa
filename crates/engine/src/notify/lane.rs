//! One lane: the callbacks of an account to an origin, those that wait and how many are in flight. And all lanes of an
//! account.

use super::health::{Flying, Health, HealthClass};
use super::limits::Most;
use super::waiting::{InLane, Waiting};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Its callbacks, and what is known of its receiver.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    pub(crate) waiting: Waiting<T>,
    pub(crate) in_flight: usize,
    /// How many of them failed before.
    retries: usize,
    /// `true` if it stands in its account's turns.
    pub(crate) queued: bool,
    /// `true` if the database holds more that is due.
    pub(crate) more: bool,
    pub(crate) health: Health,
}

impl<T: InLane> Lane<T> {
    /// Nothing in it yet.
    pub(crate) fn new(health: Health) -> Self {
        Self {
            waiting: Waiting::default(),
            in_flight: 0,
            retries: 0,
            queued: false,
            more: false,
            health,
        }
    }

    /// Returns `true` if one of those that wait may fly.
    pub(crate) fn may_fly(&self, most: Most) -> bool {
        let is_free = self.in_flight < self.health.in_flight(most);
        is_free && self.waiting.has(self.retry_may_fly(most))
    }

    /// Returns `true` if there is a place for a retry: they have half of them, for they may be slow to fail again.
    fn retry_may_fly(&self, most: Most) -> bool {
        self.retries < self.health.in_flight(most).div_ceil(2)
    }

    /// One of them is no longer in flight.
    pub(crate) fn release_place(&mut self, callback: &T) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let was_retry = usize::from(callback.is_retry());
        self.retries = self.retries.saturating_sub(was_retry);
    }

    /// The next one to fly. None where there are fewer places than when the lane was queued: it goes on once one of its
    /// own is over.
    pub(crate) fn pop(&mut self, most: Most) -> Option<T> {
        if !self.may_fly(most) {
            return None;
        }
        let callback = self.waiting.pop(self.retry_may_fly(most))?;
        self.in_flight += 1;
        self.retries += usize::from(callback.is_retry());
        Some(callback)
    }
}

/// The lanes of an account.
#[derive(Debug)]
pub(crate) struct Account<T> {
    pub(crate) lanes: HashMap<Arc<str>, Lane<T>>,
    /// How many callbacks wait in them.
    pub(crate) waiting: usize,
    /// How many are in flight in those of each class.
    pub(crate) flying: Flying,
    /// Lanes whose turn can come, in order, by class. The account is in `turns` exactly while there are any.
    pub(crate) turns: [VecDeque<Arc<str>>; HealthClass::ALL.len()],
}

impl<T: InLane> Account<T> {
    /// Queues a lane that has something to give and room in flight; gives its class where it is the account's
    /// only one of that.
    pub(crate) fn queue(&mut self, origin: &Arc<str>, most: Most) -> Option<HealthClass> {
        let lane = self.lanes.get_mut(origin)?;
        if lane.queued || !lane.may_fly(most) {
            return None;
        }
        lane.queued = true;
        let class = lane.health.class();
        let turns = &mut self.turns[class as usize];
        turns.push_back(Arc::clone(origin));
        (turns.len() == 1).then_some(class)
    }
}

impl<T> Default for Account<T> {
    fn default() -> Self {
        Self {
            lanes: HashMap::new(),
            waiting: 0,
            flying: Flying::default(),
            turns: Default::default(),
        }
    }
}
