//! A lane: the queued callbacks of one account to one origin, and the number in flight. The lanes
//! of an account.

use super::health::{ClassCounts, Health, HealthClass};
use super::limits::LaneLimit;
use super::waiting::{InLane, Waiting};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The callbacks of a lane, and the health of its receiver.
#[derive(Debug)]
pub(crate) struct Lane<T> {
    pub(crate) waiting: Waiting<T>,
    pub(crate) in_flight: usize,
    /// Number of retries in flight.
    retries: usize,
    /// `true` if the lane is in a queue of its account.
    pub(crate) queued: bool,
    /// `true` if the database holds further due callbacks.
    pub(crate) has_more_due: bool,
    pub(crate) health: Health,
}

impl<T: InLane> Lane<T> {
    /// Creates an empty lane.
    pub(crate) fn new(health: Health) -> Self {
        Self {
            waiting: Waiting::default(),
            in_flight: 0,
            retries: 0,
            queued: false,
            has_more_due: false,
            health,
        }
    }

    /// Returns `true` if a queued callback may start.
    pub(crate) fn may_start(&self, limit: LaneLimit) -> bool {
        let is_free = self.in_flight < self.health.in_flight(limit);
        is_free && self.waiting.has(self.retry_may_start(limit))
    }

    /// Returns `true` if a retry may start. Retries have half of the concurrency of a lane, since
    /// they may be slow to fail again.
    fn retry_may_start(&self, limit: LaneLimit) -> bool {
        self.retries < self.health.in_flight(limit).div_ceil(2)
    }

    /// Records that a callback is no longer in flight.
    pub(crate) fn finished(&mut self, callback: &T) {
        self.in_flight = self.in_flight.saturating_sub(1);
        let was_retry = usize::from(callback.is_retry());
        self.retries = self.retries.saturating_sub(was_retry);
    }

    /// Takes the next callback. Returns `None` if the limit was lowered since the lane was queued.
    /// The lane is queued again when one of its own callbacks ends.
    pub(crate) fn pop(&mut self, limit: LaneLimit) -> Option<T> {
        if !self.may_start(limit) {
            return None;
        }
        let callback = self.waiting.pop(self.retry_may_start(limit))?;
        self.in_flight += 1;
        self.retries += usize::from(callback.is_retry());
        Some(callback)
    }
}

/// The lanes of an account.
#[derive(Debug)]
pub(crate) struct Account<T> {
    pub(crate) lanes: HashMap<Arc<str>, Lane<T>>,
    /// Number of queued callbacks in all lanes.
    pub(crate) waiting: usize,
    /// Number of callbacks in flight by class of the receiver.
    pub(crate) class_counts: ClassCounts,
    /// Lanes that may start a callback, in round-robin order by class. The account is queued
    /// exactly while there are any.
    pub(crate) queues: [VecDeque<Arc<str>>; HealthClass::ALL.len()],
}

impl<T: InLane> Account<T> {
    /// Queues a lane if it may start a callback. Returns its class if it is the first queued lane
    /// of that class.
    pub(crate) fn queue(&mut self, origin: &Arc<str>, limit: LaneLimit) -> Option<HealthClass> {
        let lane = self.lanes.get_mut(origin)?;
        if lane.queued || !lane.may_start(limit) {
            return None;
        }
        lane.queued = true;
        let class = lane.health.class();
        let queues = &mut self.queues[class as usize];
        queues.push_back(Arc::clone(origin));
        (queues.len() == 1).then_some(class)
    }
}

impl<T> Default for Account<T> {
    fn default() -> Self {
        Self {
            lanes: HashMap::new(),
            waiting: 0,
            class_counts: ClassCounts::default(),
            queues: Default::default(),
        }
    }
}
