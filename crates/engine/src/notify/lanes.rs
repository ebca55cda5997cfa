//! The order of callbacks, in one lane per account and origin. Nothing here waits or has effects.
//!
//! - Accounts alternate, and so do the lanes of an account (round robin).
//! - An account may use a share of the free concurrency, however many origins it names.
//! - A lane has a limit of callbacks in flight, so a slow receiver delays only itself. A healthy
//!   receiver has a higher limit while capacity is free, since queued callbacks cost more in the
//!   database.
//! - Receivers without a success share half of the concurrency, and failing ones a quarter
//!   (`health`).
//! - Within a lane first attempts and retries alternate, and retries have half of its limit
//!   (`waiting`).

#[cfg(test)]
mod tests;

use super::health::{AttemptResult, ClassCounts, Health, HealthClass};
use super::lane::{Account, Lane};
use super::limits::{LaneLimit, WebhookLimits};
use super::waiting::InLane;
use domain::AccountId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// An account may hold one callback in memory for this many free slots. A send may name an origin
/// of its own, so the number of lanes does not matter.
const ACCOUNT_SHARE_DIVISOR: usize = 2;

/// A lane may hold one callback for this many free slots of its account, for first attempts and
/// retries each. So some capacity stays free for a new lane.
const LANE_SHARE_DIVISOR: usize = 2;

/// Number of queued callbacks at which a lane is refilled from the database.
const REFILL_THRESHOLD: usize = 256;

/// Number of tasks that may start before a pause. Tasks that take the next callback after an
/// attempt do not count. Without the pause, each callback of a commit would start a task and a
/// connection.
const MAX_STARTS: usize = 32;

/// Maximum number of receivers with a known health. At this number all are forgotten.
const MAX_KNOWN: usize = 100_000;

/// All lanes of an environment.
#[derive(Debug)]
pub(crate) struct Lanes<T> {
    limits: WebhookLimits,
    accounts: HashMap<AccountId, Account<T>>,
    /// Accounts with a queued lane in round-robin order, by the class of the lane.
    queues: [VecDeque<AccountId>; HealthClass::ALL.len()],
    /// The class of the last callback.
    last_class: HealthClass,
    /// The health of attempted receivers, also of those without a lane now.
    known: HashMap<(AccountId, Arc<str>), Health>,
    waiting: usize,
    /// Number of tasks that may start before the next pause.
    starts_left: usize,
    /// Number of callbacks in flight by class of the receiver.
    class_counts: ClassCounts,
    /// Number of receivers with an open circuit breaker.
    open_breakers: usize,
    closed: bool,
}

/// The effect of the end of an attempt.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Release {
    /// `true` if the lane has run low and the database holds further callbacks.
    pub(crate) needs_refill: bool,
    /// `true` if the circuit breaker opened, `false` if it closed, `None` if it did not change.
    pub(crate) is_open: Option<bool>,
}

impl<T: InLane> Lanes<T> {
    /// Creates empty lanes.
    pub(crate) fn new(limits: WebhookLimits) -> Self {
        Self {
            limits,
            accounts: HashMap::new(),
            queues: Default::default(),
            last_class: HealthClass::Healthy,
            known: HashMap::new(),
            waiting: 0,
            starts_left: MAX_STARTS,
            class_counts: ClassCounts::default(),
            open_breakers: 0,
            closed: false,
        }
    }

    /// Returns how many further callbacks of one kind a lane may hold.
    pub(crate) fn capacity(&self, account: AccountId, origin: &str) -> usize {
        let lane = self.lane(account, origin);
        self.capacity_beside(account, lane.map_or(0, |lane| lane.waiting.longest()))
    }

    /// Returns how many further callbacks a lane of an account may hold, if it holds `held` of that
    /// kind.
    fn capacity_beside(&self, account: AccountId, held: usize) -> usize {
        if self.closed {
            return 0;
        }
        let owner = self.accounts.get(&account);
        let of_account = owner.map_or(0, |owner| owner.waiting);
        let left = share(self.free(), of_account, ACCOUNT_SHARE_DIVISOR);
        share(left, held, LANE_SHARE_DIVISOR)
    }

    /// Queues a callback in its lane. Returns it if there is no capacity.
    pub(crate) fn push(&mut self, callback: T) -> Result<(), T> {
        let account = callback.account();
        let lane = self.lane(account, callback.origin());
        let held = lane.map_or(0, |lane| lane.waiting.len_of_same_kind(&callback));
        if self.capacity_beside(account, held) == 0 {
            return Err(callback);
        }
        let owner = self.accounts.entry(account).or_default();
        if !owner.lanes.contains_key(callback.origin()) {
            let origin: Arc<str> = callback.origin().into();
            let key = (account, Arc::clone(&origin));
            let health = self.known.get(&key).copied().unwrap_or_default();
            owner.lanes.insert(origin, Lane::new(health));
        }
        let Some((origin, _)) = owner.lanes.get_key_value(callback.origin()) else {
            return Err(callback);
        };
        let origin = Arc::clone(origin);
        let is_retry = callback.is_retry();
        if let Some(lane) = owner.lanes.get_mut(&origin) {
            lane.waiting.push(callback);
            owner.waiting += 1;
            self.waiting += 1;
            // After a restart, an earlier failure is all that is known of the receiver.
            if is_retry && lane.health == Health::Unknown {
                self.set_health(account, &origin, Health::Failing(1));
            }
        }
        self.queue(account, &origin);
        Ok(())
    }

    /// Queues a lane if it may start a callback.
    fn queue(&mut self, account: AccountId, origin: &Arc<str>) {
        let limit = self.limit();
        let Some(owner) = self.accounts.get_mut(&account) else {
            return;
        };
        if let Some(class) = owner.queue(origin, limit) {
            self.queues[class as usize].push_back(account);
        }
    }

    /// Returns the current concurrency of a lane.
    fn limit(&self) -> LaneLimit {
        self.limits
            .lane_limit(self.class_counts.of(HealthClass::Healthy))
    }

    /// Takes a callback for a new task, if another may start before the next pause.
    pub(crate) fn start(&mut self) -> Option<T> {
        let left = self.starts_left.checked_sub(1)?;
        let callback = self.next()?;
        self.starts_left = left;
        Some(callback)
    }

    /// Returns `true` if no further task may start before a pause.
    pub(crate) fn must_pause(&self) -> bool {
        self.starts_left == 0
    }

    /// Records a pause.
    pub(crate) fn paused(&mut self) {
        self.starts_left = MAX_STARTS;
    }

    /// Takes the next callback for a task whose attempt has ended. Each callback must be passed to
    /// [`Lanes::finish`] at its end.
    pub(crate) fn next(&mut self) -> Option<T> {
        while !self.closed && self.in_flight() < self.limits.in_flight {
            let limit = self.limit();
            let (class, index) = self.next_account()?;
            let account = self.queues[class as usize].remove(index)?;
            let owner = self.accounts.get_mut(&account)?;
            let origin = owner.queues[class as usize].pop_front()?;
            let lane = owner.lanes.get_mut(&origin)?;
            lane.queued = false;
            let Some(callback) = lane.pop(limit) else {
                // The account keeps its position, because its next lane may start a callback.
                if !owner.queues[class as usize].is_empty() {
                    self.queues[class as usize].push_front(account);
                }
                continue;
            };
            owner.waiting -= 1;
            self.waiting -= 1;
            self.class_counts.add(class, 1);
            owner.class_counts.add(class, 1);
            self.last_class = class;
            owner.queue(&origin, limit);
            if !owner.queues[class as usize].is_empty() {
                self.queues[class as usize].push_back(account);
            }
            return Some(callback);
        }
        None
    }

    /// Returns the class of the next callback and the index of its account in the queue of that
    /// class. Classes alternate, and so do accounts. Classes and accounts without free concurrency
    /// are skipped and keep their positions.
    fn next_account(&self) -> Option<(HealthClass, usize)> {
        let free = self.limits.in_flight.saturating_sub(self.in_flight());
        let account = |class: HealthClass| {
            let may_start = |account: &AccountId| {
                let owner = self.accounts.get(account);
                let counts = owner.map_or_else(ClassCounts::default, |owner| owner.class_counts);
                counts.has_capacity(class, self.limits.of_account(counts.all(), free))
            };
            self.queues[class as usize].iter().position(may_start)
        };
        let classes = self.last_class.round_robin_after().into_iter();
        classes
            .filter(|class| {
                self.class_counts
                    .has_capacity(*class, self.limits.in_flight)
            })
            .find_map(|class| Some((class, account(class)?)))
    }

    /// Records the end of an attempt.
    pub(crate) fn finish(&mut self, callback: &T, result: AttemptResult) -> Release {
        let (account, origin) = (callback.account(), callback.origin());
        let Some(owner) = self.accounts.get_mut(&account) else {
            return Release::default();
        };
        let Some((origin, _)) = owner.lanes.get_key_value(origin) else {
            return Release::default();
        };
        let origin = Arc::clone(origin);
        let Some(lane) = owner.lanes.get_mut(&origin) else {
            return Release::default();
        };
        lane.finished(callback);
        let class = lane.health.class();
        self.class_counts.remove(class, 1);
        owner.class_counts.remove(class, 1);
        let low = lane.waiting.len() <= REFILL_THRESHOLD;
        let needs_refill = lane.has_more_due && low;
        if needs_refill {
            lane.has_more_due = false;
        }
        let after = lane.health.after(result);
        let is_open = self.set_health(account, &origin, after);
        self.requeue_or_remove(account, &origin);
        Release {
            needs_refill,
            is_open,
        }
    }

    /// Sets the health of a receiver. Returns the new state of its circuit breaker if that changed.
    fn set_health(&mut self, account: AccountId, origin: &Arc<str>, after: Health) -> Option<bool> {
        let owner = self.accounts.get_mut(&account)?;
        let lane = owner.lanes.get_mut(origin)?;
        let before = std::mem::replace(&mut lane.health, after);
        if before == after {
            return None;
        }
        if before.class() != after.class() {
            for counts in [&mut self.class_counts, &mut owner.class_counts] {
                counts.remove(before.class(), lane.in_flight);
                counts.add(after.class(), lane.in_flight);
            }
            if std::mem::take(&mut lane.queued) {
                self.dequeue(account, origin, before.class());
            }
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
            self.open_breakers = 0;
        }
        self.known.insert((account, Arc::clone(origin)), after);
        let change = (before.is_open() != after.is_open()).then_some(after.is_open());
        match change {
            Some(true) => self.open_breakers += 1,
            Some(false) => self.open_breakers = self.open_breakers.saturating_sub(1),
            None => {}
        }
        change
    }

    /// Returns `true` if the circuit breaker of the receiver of a callback is open.
    pub(crate) fn is_open(&self, callback: &T) -> bool {
        let lane = self.lane(callback.account(), callback.origin());
        lane.is_some_and(|lane| lane.health.is_open())
    }

    /// Returns the number of receivers with an open circuit breaker.
    pub(crate) fn open_breakers(&self) -> usize {
        self.open_breakers
    }

    /// Removes a lane from the queue of a class.
    fn dequeue(&mut self, account: AccountId, origin: &str, class: HealthClass) {
        let Some(owner) = self.accounts.get_mut(&account) else {
            return;
        };
        let lanes = &mut owner.queues[class as usize];
        lanes.retain(|queued| **queued != *origin);
        if lanes.is_empty() {
            self.queues[class as usize].retain(|&queued| queued != account);
        }
    }

    /// Queues a lane again, or removes it if it is empty.
    fn requeue_or_remove(&mut self, account: AccountId, origin: &Arc<str>) {
        let Some(owner) = self.accounts.get_mut(&account) else {
            return;
        };
        let is_over = |lane: &Lane<T>| lane.waiting.is_empty() && lane.in_flight == 0;
        if owner.lanes.get(origin).is_some_and(is_over) {
            owner.lanes.remove(origin);
            if owner.lanes.is_empty() {
                self.accounts.remove(&account);
            }
        } else {
            self.queue(account, origin);
        }
    }

    /// Records that the database holds further callbacks of a lane. Returns `false` if there is no
    /// such lane, so that nothing will request them.
    pub(crate) fn expect_more(&mut self, account: AccountId, origin: &str) -> bool {
        let owner = self.accounts.get_mut(&account);
        let lane = owner.and_then(|owner| owner.lanes.get_mut(origin));
        lane.map(|lane| lane.has_more_due = true).is_some()
    }

    /// Removes queued callbacks from the lane of a callback in flight.
    pub(crate) fn withdraw(&mut self, in_flight: &T, unwanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let (account, origin) = (in_flight.account(), in_flight.origin());
        let limit = self.limit();
        let Some(owner) = self.accounts.get_mut(&account) else {
            return Vec::new();
        };
        let Some(lane) = owner.lanes.get_mut(origin) else {
            return Vec::new();
        };
        let withdrawn = lane.waiting.withdraw(unwanted);
        owner.waiting -= withdrawn.len();
        self.waiting -= withdrawn.len();
        if lane.queued && !lane.may_start(limit) {
            lane.queued = false;
            let class = lane.health.class();
            self.dequeue(account, origin, class);
        }
        withdrawn
    }

    /// Returns the number of callbacks in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.class_counts.all()
    }

    /// Returns how many further callbacks fit into memory.
    pub(crate) fn free(&self) -> usize {
        self.limits.waiting.saturating_sub(self.waiting)
    }

    /// Closes the lanes. Returns the queued callbacks.
    pub(crate) fn close(&mut self) -> Vec<T> {
        self.closed = true;
        self.waiting = 0;
        let lanes = self.accounts.values_mut().flat_map(|owner| {
            owner.waiting = 0;
            owner.lanes.values_mut()
        });
        lanes
            .flat_map(|lane| lane.waiting.withdraw(|_| true))
            .collect()
    }

    fn lane(&self, account: AccountId, origin: &str) -> Option<&Lane<T>> {
        self.accounts.get(&account)?.lanes.get(origin)
    }
}

/// Returns how many further callbacks an owner may hold that holds `held`, if it may hold one part
/// in `parts` of what is left.
fn share(left: usize, held: usize, parts: usize) -> usize {
    // A queued callback also reduces what is left, hence `parts + 1`.
    left.saturating_sub(held * parts).div_ceil(parts + 1)
}
