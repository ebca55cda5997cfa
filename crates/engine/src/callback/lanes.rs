//! Which callback is posted next: the callbacks in hand, in one lane per account and origin.
//!
//! Accounts take turns, and so do the origins of an account; a lane has a limit of callbacks in flight, so
//! a slow or dead receiver takes that many slots and holds up nobody else. Nothing here waits or does I/O.

use domain::AccountId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What tells the lane of a callback.
pub(super) trait InLane {
    /// Whose callback it is.
    fn account(&self) -> AccountId;
    /// Scheme, host and port of its URL.
    fn origin(&self) -> &str;
}

/// How much may be in hand and in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Callbacks in flight to one origin of one account.
    pub(super) in_flight_per_lane: usize,
    /// Callbacks in flight altogether.
    pub(super) in_flight: usize,
    /// Callbacks waiting in memory altogether; the others stay rows in the database.
    pub(super) waiting: usize,
}

/// A lane may hold one part in so many of the room that is left. So a few busy lanes get much, many lanes
/// get little each, and some room is always left for one that was not there before.
const SHARE_OF_ROOM: usize = 8;

/// A lane with so few callbacks waiting is refilled when the database holds more for it.
const REFILL_AT: usize = 256;

/// The callbacks in hand.
#[derive(Debug)]
pub(super) struct Lanes<T> {
    limits: Limits,
    accounts: HashMap<AccountId, Account<T>>,
    /// Accounts with a lane whose turn can come, in order.
    turns: VecDeque<AccountId>,
    waiting: usize,
    in_flight: usize,
    closed: bool,
}

#[derive(Debug)]
struct Account<T> {
    lanes: HashMap<Arc<str>, Lane<T>>,
    /// Lanes whose turn can come, in order. The account is in `turns` exactly while there are any.
    turns: VecDeque<Arc<str>>,
}

#[derive(Debug)]
struct Lane<T> {
    waiting: VecDeque<T>,
    in_flight: usize,
    /// Whether it stands in its account's turns.
    queued: bool,
    /// Whether the database holds more that is due.
    more: bool,
}

impl<T: InLane> Lanes<T> {
    /// No callback in hand yet.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            accounts: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            in_flight: 0,
            closed: false,
        }
    }

    /// How many more callbacks a lane may hold now.
    pub(super) fn room(&self, account: AccountId, origin: &str) -> usize {
        if self.closed {
            return 0;
        }
        let held = self
            .lane(account, origin)
            .map_or(0, |lane| lane.waiting.len());
        let left = self.limits.waiting.saturating_sub(self.waiting);
        // What goes in also makes the room smaller that is shared, hence the one more.
        left.saturating_sub(held * SHARE_OF_ROOM)
            .div_ceil(SHARE_OF_ROOM + 1)
    }

    /// Puts a callback at the end of its lane; gives it back when there is no room.
    pub(super) fn push(&mut self, callback: T) -> Result<(), T> {
        let account = callback.account();
        if self.room(account, callback.origin()) == 0 {
            return Err(callback);
        }
        let owner = self.accounts.entry(account).or_default();
        if !owner.lanes.contains_key(callback.origin()) {
            owner
                .lanes
                .insert(callback.origin().into(), Lane::default());
        }
        let Some((origin, _)) = owner.lanes.get_key_value(callback.origin()) else {
            return Err(callback);
        };
        let origin = Arc::clone(origin);
        if let Some(lane) = owner.lanes.get_mut(&origin) {
            lane.waiting.push_back(callback);
            self.waiting += 1;
        }
        if owner.queue(&origin, self.limits.in_flight_per_lane) {
            self.turns.push_back(account);
        }
        Ok(())
    }

    /// The next callback to post; [`Lanes::finish`] is to be called once it is over.
    pub(super) fn next(&mut self) -> Option<T> {
        if self.closed || self.in_flight >= self.limits.in_flight {
            return None;
        }
        let account = self.turns.pop_front()?;
        let owner = self.accounts.get_mut(&account)?;
        let origin = owner.turns.pop_front()?;
        let lane = owner.lanes.get_mut(&origin)?;
        lane.queued = false;
        let callback = lane.waiting.pop_front()?;
        lane.in_flight += 1;
        self.waiting -= 1;
        self.in_flight += 1;
        owner.queue(&origin, self.limits.in_flight_per_lane);
        if !owner.turns.is_empty() {
            self.turns.push_back(account);
        }
        Some(callback)
    }

    /// A callback of this lane is no longer in flight. Says whether the database holds more for a lane that
    /// has run low.
    pub(super) fn finish(&mut self, callback: &T) -> bool {
        let (account, origin) = (callback.account(), callback.origin());
        let Some(owner) = self.accounts.get_mut(&account) else {
            return false;
        };
        let Some((origin, _)) = owner.lanes.get_key_value(origin) else {
            return false;
        };
        let origin = Arc::clone(origin);
        let Some(lane) = owner.lanes.get_mut(&origin) else {
            return false;
        };
        lane.in_flight = lane.in_flight.saturating_sub(1);
        self.in_flight = self.in_flight.saturating_sub(1);
        let low = lane.waiting.len() <= REFILL_AT;
        let wanted = lane.more && low;
        if wanted {
            lane.more = false;
        }
        if lane.waiting.is_empty() && lane.in_flight == 0 {
            owner.lanes.remove(&origin);
            if owner.lanes.is_empty() {
                self.accounts.remove(&account);
            }
        } else if owner.queue(&origin, self.limits.in_flight_per_lane) {
            self.turns.push_back(account);
        }
        wanted
    }

    /// Notes that the database holds more for a lane than it has taken.
    pub(super) fn expect_more(&mut self, account: AccountId, origin: &str) {
        if let Some(lane) = self
            .accounts
            .get_mut(&account)
            .and_then(|owner| owner.lanes.get_mut(origin))
        {
            lane.more = true;
        }
    }

    /// Takes waiting callbacks out of the lane that `in_flight` belongs to.
    pub(super) fn withdraw(&mut self, in_flight: &T, unwanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let (account, origin) = (in_flight.account(), in_flight.origin());
        let Some(owner) = self.accounts.get_mut(&account) else {
            return Vec::new();
        };
        let Some(lane) = owner.lanes.get_mut(origin) else {
            return Vec::new();
        };
        let waiting = std::mem::take(&mut lane.waiting);
        let (withdrawn, kept): (Vec<T>, Vec<T>) = waiting.into_iter().partition(unwanted);
        lane.waiting = kept.into();
        self.waiting -= withdrawn.len();
        if lane.queued && lane.waiting.is_empty() {
            lane.queued = false;
            owner.turns.retain(|queued| **queued != *origin);
            if owner.turns.is_empty() {
                self.turns.retain(|&queued| queued != account);
            }
        }
        withdrawn
    }

    /// How many are in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// How many callbacks there is room for in memory, whatever their lanes.
    pub(super) fn free(&self) -> usize {
        self.limits.waiting.saturating_sub(self.waiting)
    }

    /// Takes nothing more and gives nothing more out; gives back what was waiting.
    pub(super) fn close(&mut self) -> Vec<T> {
        self.closed = true;
        self.waiting = 0;
        let lanes = self
            .accounts
            .values_mut()
            .flat_map(|owner| owner.lanes.values_mut());
        lanes
            .flat_map(|lane| std::mem::take(&mut lane.waiting))
            .collect()
    }

    fn lane(&self, account: AccountId, origin: &str) -> Option<&Lane<T>> {
        self.accounts.get(&account)?.lanes.get(origin)
    }
}

impl<T> Account<T> {
    /// Queues a lane that has something to give and room in flight; whether it is the account's only one.
    fn queue(&mut self, origin: &Arc<str>, in_flight_limit: usize) -> bool {
        let Some(lane) = self.lanes.get_mut(origin) else {
            return false;
        };
        if lane.queued || lane.waiting.is_empty() || lane.in_flight >= in_flight_limit {
            return false;
        }
        lane.queued = true;
        self.turns.push_back(Arc::clone(origin));
        self.turns.len() == 1
    }
}

impl<T> Default for Account<T> {
    fn default() -> Self {
        Self {
            lanes: HashMap::new(),
            turns: VecDeque::new(),
        }
    }
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            in_flight: 0,
            queued: false,
            more: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits {
        in_flight_per_lane: 2,
        in_flight: 5,
        waiting: 900,
    };
    const A: AccountId = AccountId(1);
    const B: AccountId = AccountId(2);

    type Callback = (AccountId, &'static str, usize);

    impl InLane for Callback {
        fn account(&self) -> AccountId {
            self.0
        }
        fn origin(&self) -> &str {
            self.1
        }
    }

    fn lanes(callbacks: &[(AccountId, &'static str, usize)]) -> Lanes<Callback> {
        let mut lanes = Lanes::new(LIMITS);
        for &(account, origin, count) in callbacks {
            for number in 0..count {
                lanes.push((account, origin, number)).unwrap();
            }
        }
        lanes
    }

    fn drain(lanes: &mut Lanes<Callback>) -> Vec<Callback> {
        std::iter::from_fn(|| lanes.next()).collect()
    }

    #[test]
    fn accounts_take_turns_and_so_do_their_origins() {
        let mut lanes = lanes(&[(A, "x", 9), (A, "y", 9), (B, "z", 9)]);
        let order = drain(&mut lanes);
        assert_eq!(
            order,
            [
                (A, "x", 0),
                (B, "z", 0),
                (A, "y", 0),
                (B, "z", 1),
                (A, "x", 1)
            ]
        );
    }

    #[test]
    fn a_lane_has_at_most_its_share_in_flight_and_goes_on_when_one_is_over() {
        let mut lanes = lanes(&[(A, "slow", 9), (A, "quick", 3)]);
        assert_eq!(drain(&mut lanes).len(), 4);
        lanes.finish(&(A, "quick", 0));
        assert_eq!(lanes.next(), Some((A, "quick", 2)));
        lanes.finish(&(A, "quick", 0));
        lanes.finish(&(A, "quick", 0));
        assert_eq!(lanes.next(), None);
        assert_eq!(lanes.in_flight(), 2);
        lanes.finish(&(A, "slow", 0));
        assert_eq!(lanes.next(), Some((A, "slow", 2)));
    }

    #[test]
    fn a_lane_that_holds_much_leaves_room_for_others() {
        let mut lanes = Lanes::new(LIMITS);
        let fill = |lanes: &mut Lanes<Callback>, account, origin| {
            (0..LIMITS.waiting)
                .take_while(|&n| lanes.push((account, origin, n)).is_ok())
                .count()
        };
        let room = lanes.room(A, "dead");
        assert_eq!(room, LIMITS.waiting / (SHARE_OF_ROOM + 1));
        assert_eq!(fill(&mut lanes, A, "dead"), room);
        for account in 10..50 {
            assert!(fill(&mut lanes, AccountId(account), "also dead") > 0);
        }
        assert!(fill(&mut lanes, B, "healthy") > 0);
        assert!(lanes.waiting < LIMITS.waiting);
    }

    #[test]
    fn a_lane_that_runs_low_asks_for_what_the_database_holds_once() {
        let mut lanes = lanes(&[(A, "x", 4)]);
        assert!(lanes.next().is_some());
        assert!(!lanes.finish(&(A, "x", 0)));
        lanes.expect_more(A, "x");
        assert!(lanes.next().is_some());
        assert!(lanes.finish(&(A, "x", 0)));
        assert!(lanes.next().is_some());
        assert!(!lanes.finish(&(A, "x", 0)));
    }

    #[test]
    fn what_is_withdrawn_is_never_given_out_and_its_lane_goes_on() {
        let mut lanes = lanes(&[(A, "x", 4)]);
        assert_eq!(lanes.next(), Some((A, "x", 0)));
        assert_eq!(lanes.withdraw(&(A, "x", 0), |_| true).len(), 3);
        assert_eq!(lanes.next(), None);
        lanes.push((A, "x", 9)).unwrap();
        assert_eq!(lanes.next(), Some((A, "x", 9)));
    }

    #[test]
    fn closing_gives_back_what_waits_and_nothing_more_goes_in_or_out() {
        let mut lanes = lanes(&[(A, "x", 4), (B, "z", 1)]);
        assert!(lanes.next().is_some());
        assert_eq!(lanes.close().len(), 4);
        assert_eq!(lanes.next(), None);
        assert!(lanes.push((A, "x", 9)).is_err());
        lanes.finish(&(A, "x", 0));
        assert_eq!(lanes.in_flight(), 0);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(i64, usize),
        Next,
        Finish(usize),
        Withdraw(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..3i64, 0..3usize).prop_map(|(account, origin)| Step::Push(account, origin)),
            3 => Just(Step::Next),
            2 => (0..9usize).prop_map(Step::Finish),
            1 => (0..9usize).prop_map(Step::Withdraw),
        ]
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_given_out_twice_and_every_limit_holds(
            steps in proptest::collection::vec(step(), 0..200),
        ) {
            let origins = ["x", "y", "z"];
            let mut lanes = Lanes::new(LIMITS);
            let (mut pushed, mut out, mut withdrawn) = (0, 0, 0);
            let mut flying: Vec<Callback> = Vec::new();
            for step in steps {
                match step {
                    Step::Push(account, origin) => {
                        lanes.push((AccountId(account), origins[origin], 0)).unwrap();
                        pushed += 1;
                    }
                    Step::Next => if let Some(callback) = lanes.next() {
                        flying.push(callback);
                        out += 1;
                        let same = flying.iter().filter(|&&other| other == callback).count();
                        prop_assert!(same <= LIMITS.in_flight_per_lane);
                    },
                    Step::Finish(at) => if at < flying.len() {
                        lanes.finish(&flying.swap_remove(at));
                    },
                    Step::Withdraw(at) => if let Some(callback) = flying.get(at) {
                        withdrawn += lanes.withdraw(callback, |_| true).len();
                    },
                }
                prop_assert_eq!(lanes.in_flight(), flying.len());
                prop_assert!(flying.len() <= LIMITS.in_flight);
            }
            loop {
                while let Some(callback) = flying.pop() {
                    lanes.finish(&callback);
                }
                match lanes.next() {
                    Some(callback) => { flying.push(callback); out += 1; }
                    None => break,
                }
            }
            prop_assert_eq!(out + withdrawn, pushed);
            prop_assert!(lanes.accounts.is_empty() && lanes.turns.is_empty());
        }
    }
}
