//! Which callback is posted next: the callbacks in hand, in one lane per account and origin.
//!
//! Accounts take turns, and so do the origins of an account; an account has at most a share of what is free, however many
//! origins it names, and so has each class of its receivers of that; a lane has a limit of callbacks in flight, so
//! a slow or dead receiver takes that many slots and holds up nobody else. One that is well may take more while all that
//! are well have less than a quarter of all slots: what is not told in time waits in the database, and costs more.
//! Receivers of which nothing good is known (`standing`) share half of all slots, however many they are, and those that
//! fail half of that, so that one that was never tried need not wait for a thousand that are dead. Within a lane first
//! attempts and retries take turns, and retries have half of its slots (`waiting`). Nothing here waits or does I/O.

use super::health::{AttemptResult, Flying, Health, HealthClass};
use super::lane::{Account, Lane};
use super::limits::{Most, WebhookLimits};
use super::waiting::InLane;
use domain::AccountId;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// An account may hold one part in so many of the room that is left, however many lanes it has: each send may name an
/// origin of its own.
const SHARE_OF_ACCOUNT: usize = 2;

/// A lane may hold one part in so many of the room that its account has left, of first attempts and of retries each. So
/// a few busy lanes get much, many lanes get little each, and some room is left for one that was not there before.
const SHARE_OF_LANE: usize = 2;

/// A lane with so few callbacks waiting is refilled when the database holds more for it.
const REFILL_AT: usize = 256;

/// Flights that may begin before a pause, beside those that take the place of one that has landed. All of a commit at
/// once took a task and a connection for each, where a few that land soon do for all.
const MAX_STARTS: usize = 32;

/// Receivers whose standing is kept; beyond that all are unknown again.
const MAX_KNOWN: usize = 100_000;

/// The callbacks in hand.
#[derive(Debug)]
pub(crate) struct Lanes<T> {
    limits: WebhookLimits,
    accounts: HashMap<AccountId, Account<T>>,
    /// Accounts with a lane whose turn can come, in order, by the class of the lane.
    turns: [VecDeque<AccountId>; HealthClass::ALL.len()],
    /// The class whose turn was last.
    last: HealthClass,
    /// Receivers that were tried, also those without a lane now.
    known: HashMap<(AccountId, Arc<str>), Health>,
    waiting: usize,
    /// How many may begin before a pause.
    starts: usize,
    /// How many are in flight in lanes that are of each class now.
    flying: Flying,
    /// Receivers that are only tried.
    broken: usize,
    closed: bool,
}

/// The consequence of the end of an attempt.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Release {
    /// `true` if the database holds more for a lane that has run low.
    pub(crate) wants_more: bool,
    /// `true` if the receiver is only tried from now on, or no longer; `None` where that is as before.
    pub(crate) broken: Option<bool>,
}

impl<T: InLane> Lanes<T> {
    /// No callback in hand yet.
    pub(crate) fn new(limits: WebhookLimits) -> Self {
        Self {
            limits,
            accounts: HashMap::new(),
            turns: Default::default(),
            last: HealthClass::Proven,
            known: HashMap::new(),
            waiting: 0,
            starts: MAX_STARTS,
            flying: Flying::default(),
            broken: 0,
            closed: false,
        }
    }

    /// How many more callbacks of any kind a lane may hold now.
    pub(crate) fn room(&self, account: AccountId, origin: &str) -> usize {
        let lane = self.lane(account, origin);
        self.room_beside(
            account,
            lane.map_or(0, |lane| lane.waiting.most_of_a_kind()),
        )
    }

    /// How many more a lane of an account may hold that holds so many of a kind.
    fn room_beside(&self, account: AccountId, held: usize) -> usize {
        if self.closed {
            return 0;
        }
        let owner = self.accounts.get(&account);
        let of_account = owner.map_or(0, |owner| owner.waiting);
        let left = share(self.free(), of_account, SHARE_OF_ACCOUNT);
        share(left, held, SHARE_OF_LANE)
    }

    /// Puts a callback at the end of its lane; gives it back when there is no room.
    pub(crate) fn push(&mut self, callback: T) -> Result<(), T> {
        let account = callback.account();
        let lane = self.lane(account, callback.origin());
        let held = lane.map_or(0, |lane| lane.waiting.like(&callback));
        if self.room_beside(account, held) == 0 {
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
            // A failure before a restart is all that is known of it then.
            if is_retry && lane.health == Health::Unknown {
                self.stand(account, &origin, Health::Failing(1));
            }
        }
        self.queue(account, &origin);
        Ok(())
    }

    /// Queues a lane that has something to give.
    fn queue(&mut self, account: AccountId, origin: &Arc<str>) {
        let most = self.most();
        let Some(owner) = self.accounts.get_mut(&account) else {
            return;
        };
        if let Some(class) = owner.queue(origin, most) {
            self.turns[class as usize].push_back(account);
        }
    }

    /// How many may be in flight to one receiver now.
    fn most(&self) -> Most {
        self.limits.most(self.flying.of(HealthClass::Proven))
    }

    /// The next callback to post in a flight that begins.
    pub(crate) fn start(&mut self) -> Option<T> {
        let left = self.starts.checked_sub(1)?;
        let callback = self.next()?;
        self.starts = left;
        Some(callback)
    }

    /// Returns `true` if no flight may begin before there was a pause.
    pub(crate) fn wants_pause(&self) -> bool {
        self.starts == 0
    }

    /// There was a pause.
    pub(crate) fn paused(&mut self) {
        self.starts = MAX_STARTS;
    }

    /// The next callback to post, in the place of one that has landed; [`Lanes::finish`] is to be called once it is over.
    pub(crate) fn next(&mut self) -> Option<T> {
        while !self.closed && self.in_flight() < self.limits.in_flight {
            let most = self.most();
            let (class, place) = self.next_lane()?;
            let account = self.turns[class as usize].remove(place)?;
            let owner = self.accounts.get_mut(&account)?;
            let origin = owner.turns[class as usize].pop_front()?;
            let lane = owner.lanes.get_mut(&origin)?;
            lane.queued = false;
            let Some(callback) = lane.pop(most) else {
                // That was no turn: another lane of the account has it.
                if !owner.turns[class as usize].is_empty() {
                    self.turns[class as usize].push_front(account);
                }
                continue;
            };
            owner.waiting -= 1;
            self.waiting -= 1;
            self.flying.add(class, 1);
            owner.flying.add(class, 1);
            self.last = class;
            owner.queue(&origin, most);
            if !owner.turns[class as usize].is_empty() {
                self.turns[class as usize].push_back(account);
            }
            return Some(callback);
        }
        None
    }

    /// The class whose turn it is, and the place in its turns of the account whose turn it is: all by turns, as far as
    /// they have places left. Accounts that have as many as they may keep their turn; there are fewer than places.
    fn next_lane(&self) -> Option<(HealthClass, usize)> {
        let free = self.limits.in_flight.saturating_sub(self.in_flight());
        let account = |class: HealthClass| {
            let may_fly = |account: &AccountId| {
                let owner = self.accounts.get(account);
                let flying = owner.map_or_else(Flying::default, |owner| owner.flying);
                flying.has_room(class, self.limits.of_account(flying.all(), free))
            };
            self.turns[class as usize].iter().position(may_fly)
        };
        let classes = self.last.others_first().into_iter();
        classes
            .filter(|class| self.flying.has_room(*class, self.limits.in_flight))
            .find_map(|class| Some((class, account(class)?)))
    }

    /// A callback of this lane is no longer in flight.
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
        lane.release_place(callback);
        let class = lane.health.class();
        self.flying.take(class, 1);
        owner.flying.take(class, 1);
        let low = lane.waiting.len() <= REFILL_AT;
        let wants_more = lane.more && low;
        if wants_more {
            lane.more = false;
        }
        let after = lane.health.after(result);
        let broken = self.stand(account, &origin, after);
        self.go_on(account, &origin);
        Release { wants_more, broken }
    }

    /// Notes where a lane stands now; gives whether it broke or is mended.
    fn stand(&mut self, account: AccountId, origin: &Arc<str>, after: Health) -> Option<bool> {
        let owner = self.accounts.get_mut(&account)?;
        let lane = owner.lanes.get_mut(origin)?;
        let before = std::mem::replace(&mut lane.health, after);
        if before == after {
            return None;
        }
        if before.class() != after.class() {
            for flying in [&mut self.flying, &mut owner.flying] {
                flying.take(before.class(), lane.in_flight);
                flying.add(after.class(), lane.in_flight);
            }
            if std::mem::take(&mut lane.queued) {
                self.leave(account, origin, before.class());
            }
        }
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
            self.broken = 0;
        }
        self.known.insert((account, Arc::clone(origin)), after);
        let change = (before.is_broken() != after.is_broken()).then_some(after.is_broken());
        match change {
            Some(true) => self.broken += 1,
            Some(false) => self.broken = self.broken.saturating_sub(1),
            None => {}
        }
        change
    }

    /// Returns `true` if the receiver of this one, which is in hand, is only tried.
    pub(crate) fn is_broken(&self, callback: &T) -> bool {
        let lane = self.lane(callback.account(), callback.origin());
        lane.is_some_and(|lane| lane.health.is_broken())
    }

    /// How many receivers are only tried.
    pub(crate) fn broken(&self) -> usize {
        self.broken
    }

    /// Takes a lane out of the turns of a class.
    fn leave(&mut self, account: AccountId, origin: &str, class: HealthClass) {
        let Some(owner) = self.accounts.get_mut(&account) else {
            return;
        };
        let lanes = &mut owner.turns[class as usize];
        lanes.retain(|queued| **queued != *origin);
        if lanes.is_empty() {
            self.turns[class as usize].retain(|&queued| queued != account);
        }
    }

    /// Queues a lane again, or forgets it when there is nothing left of it.
    fn go_on(&mut self, account: AccountId, origin: &Arc<str>) {
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

    /// Notes that the database holds more for a lane than it has taken; whether there is a lane that will run low
    /// and ask for it.
    pub(crate) fn expect_more(&mut self, account: AccountId, origin: &str) -> bool {
        let owner = self.accounts.get_mut(&account);
        let lane = owner.and_then(|owner| owner.lanes.get_mut(origin));
        lane.map(|lane| lane.more = true).is_some()
    }

    /// Takes waiting callbacks out of the lane that `in_flight` belongs to.
    pub(crate) fn withdraw(&mut self, in_flight: &T, unwanted: impl FnMut(&T) -> bool) -> Vec<T> {
        let (account, origin) = (in_flight.account(), in_flight.origin());
        let most = self.most();
        let Some(owner) = self.accounts.get_mut(&account) else {
            return Vec::new();
        };
        let Some(lane) = owner.lanes.get_mut(origin) else {
            return Vec::new();
        };
        let withdrawn = lane.waiting.withdraw(unwanted);
        owner.waiting -= withdrawn.len();
        self.waiting -= withdrawn.len();
        if lane.queued && !lane.may_fly(most) {
            lane.queued = false;
            let class = lane.health.class();
            self.leave(account, origin, class);
        }
        withdrawn
    }

    /// How many are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.flying.all()
    }

    /// How many callbacks there is room for in memory, whatever their lanes.
    pub(crate) fn free(&self) -> usize {
        self.limits.waiting.saturating_sub(self.waiting)
    }

    /// Takes nothing more and gives nothing more out; gives back what was waiting.
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

/// How much more one of several may hold that holds so much, where each may hold one part in so many of what is left.
fn share(left: usize, held: usize, parts: usize) -> usize {
    // A callback that goes in also makes the room smaller that is shared, hence the one more.
    left.saturating_sub(held * parts).div_ceil(parts + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Environment;
    use proptest::prelude::*;

    const LIMITS: WebhookLimits = WebhookLimits {
        in_flight_per_lane: 2,
        in_flight_to_proven: 2,
        in_flight: 5,
        account_parts: 0,
        waiting: 900,
    };
    /// The room of the first lane of all.
    const ONE_LANE: usize = LIMITS.waiting / (SHARE_OF_ACCOUNT + 1) / (SHARE_OF_LANE + 1);
    const A: AccountId = AccountId(1);
    const B: AccountId = AccountId(2);

    /// Callbacks with this number and higher ones failed before.
    const RETRY: usize = 1_000;

    type Callback = (AccountId, &'static str, usize);

    impl InLane for Callback {
        fn account(&self) -> AccountId {
            self.0
        }
        fn environment(&self) -> Environment {
            Environment::Live
        }
        fn origin(&self) -> &str {
            self.1
        }
        fn is_retry(&self) -> bool {
            self.2 >= RETRY
        }
    }

    /// Lanes of receivers that are well.
    fn lanes(callbacks: &[(AccountId, &'static str, usize)]) -> Lanes<Callback> {
        let mut lanes = Lanes::new(LIMITS);
        for &(account, origin, count) in callbacks {
            let key = (account, Arc::from(origin));
            lanes.known.insert(key, Health::Proven);
            for number in 0..count {
                lanes.push((account, origin, number)).unwrap();
            }
        }
        lanes
    }

    fn flying(lanes: &Lanes<Callback>) -> [usize; HealthClass::ALL.len()] {
        HealthClass::ALL.map(|class| lanes.flying.of(class))
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
    fn flights_begin_in_portions_and_each_is_followed_by_one() {
        let mut lanes = lanes(&[(A, "x", 90), (B, "z", 90)]);
        lanes.limits = WebhookLimits {
            in_flight_per_lane: 90,
            in_flight_to_proven: 90,
            in_flight: 180,
            ..LIMITS
        };
        let begun = |lanes: &mut Lanes<Callback>| std::iter::from_fn(|| lanes.start()).count();
        assert_eq!(begun(&mut lanes), MAX_STARTS);
        assert!(lanes.wants_pause());
        lanes.finish(&(A, "x", 0), AttemptResult::Well);
        assert_eq!(begun(&mut lanes), 0);
        assert!(lanes.next().is_some());
        lanes.paused();
        assert_eq!(begun(&mut lanes), MAX_STARTS);
        assert_eq!(lanes.in_flight(), 2 * MAX_STARTS);
    }

    #[test]
    fn a_lane_has_at_most_its_share_in_flight_and_goes_on() {
        let mut lanes = lanes(&[(A, "slow", 9), (A, "quick", 3)]);
        assert_eq!(drain(&mut lanes).len(), 4);
        lanes.finish(&(A, "quick", 0), AttemptResult::Well);
        assert_eq!(lanes.next(), Some((A, "quick", 2)));
        lanes.finish(&(A, "quick", 0), AttemptResult::Well);
        lanes.finish(&(A, "quick", 0), AttemptResult::Well);
        assert_eq!(lanes.next(), None);
        assert_eq!(lanes.in_flight(), 2);
        lanes.finish(&(A, "slow", 0), AttemptResult::Well);
        assert_eq!(lanes.next(), Some((A, "slow", 2)));
    }

    #[test]
    fn a_receiver_that_is_well_has_more_places_while_most_are_free() {
        let mut lanes = lanes(&[(A, "x", 20), (B, "z", 20)]);
        lanes.push((A, "new", 0)).unwrap();
        lanes.limits = WebhookLimits {
            in_flight_to_proven: 4,
            in_flight: 36,
            ..LIMITS
        };
        let count = |flying: &[Callback], origin| {
            let of_origin = flying.iter().filter(|callback| callback.1 == origin);
            of_origin.count()
        };
        let mut flying = drain(&mut lanes);
        let counts = ["x", "z", "new"].map(|origin| count(&flying, origin));
        assert_eq!(counts, [4, 4, 1]);
        lanes.limits.in_flight = 8;
        for (done, left) in (0..3).zip([3, 2, 2]) {
            lanes.finish(&(A, "x", done), AttemptResult::Well);
            let at = flying.iter().position(|callback| callback.1 == "x");
            flying.remove(at.unwrap());
            flying.extend(drain(&mut lanes));
            assert_eq!(count(&flying, "x"), left, "after {done}");
        }
        lanes.limits.in_flight = 36;
        lanes.finish(&(A, "x", 3), AttemptResult::Badly);
        assert_eq!(drain(&mut lanes), [(A, "x", 5)], "it is not well");
    }

    #[test]
    fn first_attempts_and_retries_of_a_lane_take_turns() {
        let mut lanes = lanes(&[(A, "x", 0)]);
        for number in (RETRY..RETRY + 5).chain(0..2) {
            lanes.push((A, "x", number)).unwrap();
        }
        let order: Vec<usize> = std::iter::from_fn(|| {
            let callback = lanes.next()?;
            lanes.finish(&callback, AttemptResult::Well);
            Some(callback.2)
        })
        .collect();
        let retry = |number| RETRY + number;
        let by_turns = [0, retry(0), 1, retry(1), retry(2), retry(3), retry(4)];
        assert_eq!(order, by_turns);
    }

    #[test]
    fn retries_take_no_room_from_first_attempts_of_their_lane() {
        let mut lanes = lanes(&[]);
        let retries = (RETRY..).take_while(|&number| lanes.push((A, "x", number)).is_ok());
        assert_eq!(retries.count(), ONE_LANE);
        assert_eq!(lanes.room(A, "x"), 0, "nothing of unknown kind");
        lanes.push((A, "x", 0)).unwrap();
    }

    #[test]
    fn unproven_receivers_have_half_of_all_places() {
        let mut lanes = lanes(&[(A, "well", 1)]);
        for account in 10..1_010 {
            lanes.push((AccountId(account), "dead", 0)).ok();
        }
        assert_eq!(drain(&mut lanes).len(), 4);
        assert_eq!(flying(&lanes), [1, 3, 0]);
        lanes.finish(&(A, "well", 0), AttemptResult::Well);
        for number in 1..3 {
            lanes.push((A, "well", number)).unwrap();
            assert_eq!(lanes.next(), Some((A, "well", number)));
        }
        assert_eq!(lanes.next(), None);
    }

    #[test]
    fn failing_receivers_leave_places_to_untried_ones() {
        let mut lanes = lanes(&[]);
        for account in 10..1_010 {
            lanes.push((AccountId(account), "dead", RETRY)).ok();
        }
        assert_eq!(drain(&mut lanes).len(), 2, "half of half, rounded up");
        assert_eq!(flying(&lanes), [0, 0, 2]);
        lanes.push((A, "new", 0)).unwrap();
        assert_eq!(lanes.next(), Some((A, "new", 0)));
        lanes.push((B, "new", 0)).unwrap();
        assert_eq!(lanes.next(), None, "with them it is half");
        lanes.finish(&(A, "new", 0), AttemptResult::Well);
        assert_eq!(lanes.next(), Some((B, "new", 0)));
    }

    #[test]
    fn slow_retries_leave_half_of_a_lane_to_first_attempts() {
        let mut lanes = lanes(&[(A, "x", 0)]);
        for number in RETRY..RETRY + 3 {
            lanes.push((A, "x", number)).unwrap();
        }
        assert_eq!(drain(&mut lanes), [(A, "x", RETRY)]);
        lanes.push((A, "x", 0)).unwrap();
        assert_eq!(drain(&mut lanes), [(A, "x", 0)]);
        lanes.finish(&(A, "x", 0), AttemptResult::Well);
        assert_eq!(lanes.next(), None, "a retry has no place yet");
        lanes.finish(&(A, "x", RETRY), AttemptResult::Badly);
        assert_eq!(drain(&mut lanes), [(A, "x", RETRY + 1)]);
    }

    #[test]
    fn a_failing_receiver_gets_one_callback_at_a_time() {
        let mut lanes = lanes(&[(A, "x", 20)]);
        let mut flying = drain(&mut lanes);
        assert_eq!(flying.len(), 2);
        let mut changes = Vec::new();
        for result in [AttemptResult::Badly; 7]
            .into_iter()
            .chain([AttemptResult::Well])
        {
            let release = lanes.finish(&flying.remove(0), result);
            changes.extend(release.broken);
            flying.extend(drain(&mut lanes));
            assert_eq!(
                (flying.len(), lanes.broken()),
                match changes[..] {
                    [true] if flying.len() < 2 => (1, 1),
                    [true] => (2, 1),
                    _ => (2, 0),
                }
            );
        }
        assert_eq!(changes, [true, false]);
    }

    #[test]
    fn what_is_known_of_a_receiver_outlives_its_lane() {
        let mut lanes = lanes(&[]);
        for number in 0..6 {
            lanes.push((A, "x", number)).unwrap();
            assert_eq!(lanes.next(), Some((A, "x", number)));
            lanes.finish(&(A, "x", number), AttemptResult::Badly);
        }
        assert!(lanes.accounts.is_empty());
        for number in 0..3 {
            lanes.push((A, "x", number)).unwrap();
        }
        assert_eq!(drain(&mut lanes).len(), 1);
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
        assert_eq!(room, ONE_LANE);
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
        assert!(!lanes.finish(&(A, "x", 0), AttemptResult::Well).wants_more);
        assert!(lanes.expect_more(A, "x"));
        assert!(!lanes.expect_more(A, "y"), "nobody will ask for that");
        assert!(lanes.next().is_some());
        assert!(lanes.finish(&(A, "x", 0), AttemptResult::Well).wants_more);
        assert!(lanes.next().is_some());
        assert!(!lanes.finish(&(A, "x", 0), AttemptResult::Well).wants_more);
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
    fn closing_returns_the_waiting_and_lets_nothing_in_or_out() {
        let mut lanes = lanes(&[(A, "x", 4), (B, "z", 1)]);
        assert!(lanes.next().is_some());
        assert_eq!(lanes.close().len(), 4);
        assert_eq!(lanes.next(), None);
        assert!(lanes.push((A, "x", 9)).is_err());
        lanes.finish(&(A, "x", 0), AttemptResult::Well);
        assert_eq!(lanes.in_flight(), 0);
    }

    /// Fills lanes of an account until none takes more; gives how many they took.
    fn fill_all(
        lanes: &mut Lanes<Callback>,
        account: AccountId,
        origins: &[&'static str],
    ) -> usize {
        let full = |lanes: &mut Lanes<Callback>, origin| {
            let numbers = (0..).take_while(|number| lanes.push((account, origin, *number)).is_ok());
            let retries = numbers.count();
            let numbers =
                (RETRY..).take_while(|number| lanes.push((account, origin, *number)).is_ok());
            retries + numbers.count()
        };
        origins.iter().map(|origin| full(lanes, origin)).sum()
    }

    fn origins(count: usize) -> Vec<&'static str> {
        let origin = |number: usize| -> &'static str { number.to_string().leak() };
        (0..count).map(origin).collect()
    }

    #[test]
    fn all_lanes_of_an_account_together_leave_room_for_others() {
        let mut lanes = Lanes::new(LIMITS);
        let taken = fill_all(&mut lanes, A, &origins(500));
        assert_eq!(taken, LIMITS.waiting / (SHARE_OF_ACCOUNT + 1));
        assert_eq!(lanes.room(A, "more"), 0);
        assert!(lanes.room(B, "one") > 0);
        for account in 10..20 {
            assert!(fill_all(&mut lanes, AccountId(account), &["one"]) > 0);
        }
    }

    #[test]
    fn one_account_never_takes_the_last_places_however_many_origins() {
        let limits = WebhookLimits {
            in_flight: 512,
            account_parts: 3,
            waiting: 20_000,
            ..LIMITS
        };
        let origins = origins(1_000);
        for health in [Health::Proven, Health::Unknown, Health::Failing(1)] {
            let mut lanes = Lanes::new(limits);
            for &origin in &origins {
                lanes.known.insert((A, Arc::from(origin)), health);
                lanes.push((A, origin, 0)).unwrap();
            }
            let taken = drain(&mut lanes).len();
            assert!((1..=128).contains(&taken), "{health:?}: {taken}");
            for account in 10..30 {
                lanes.push((AccountId(account), "new", 0)).unwrap();
                let next = lanes.next().map(|callback| callback.0);
                assert_eq!(next, Some(AccountId(account)), "{health:?}");
            }
        }
    }

    #[test]
    fn slow_receivers_of_an_account_leave_places_to_its_others() {
        let mut lanes = Lanes::new(WebhookLimits {
            in_flight: 512,
            account_parts: 3,
            waiting: 20_000,
            ..LIMITS
        });
        for origin in origins(1_000) {
            lanes.push((A, origin, RETRY)).unwrap();
        }
        assert_eq!(drain(&mut lanes).len(), 32, "half of half of a quarter");
        lanes.push((A, "new", 0)).unwrap();
        assert_eq!(lanes.next(), Some((A, "new", 0)));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(i64, usize, usize),
        Next,
        Finish(usize, AttemptResult),
        Withdraw(usize),
    }

    impl Lanes<Callback> {
        /// A caller that waits is in the turns, or one of its own is in flight, whose end puts it there.
        fn each_goes_on(&self) -> Result<(), TestCaseError> {
            for (account, owner) in &self.accounts {
                for (origin, lane) in &owner.lanes {
                    let class = lane.health.class() as usize;
                    let stands = owner.turns[class].contains(origin);
                    prop_assert_eq!(stands, lane.queued);
                    prop_assert!(!stands || self.turns[class].contains(account));
                    prop_assert!(stands || lane.in_flight > 0 || lane.waiting.is_empty());
                }
            }
            Ok(())
        }
    }

    fn result() -> impl Strategy<Value = AttemptResult> {
        prop_oneof![1 => Just(AttemptResult::Well), 3 => Just(AttemptResult::Badly), 1 => Just(AttemptResult::NotTried)]
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0..3i64, 0..3usize, prop_oneof![Just(0), Just(RETRY)])
                .prop_map(|(account, origin, number)| Step::Push(account, origin, number)),
            3 => Just(Step::Next),
            3 => (0..9usize, result()).prop_map(|(at, result)| Step::Finish(at, result)),
            1 => (0..9usize).prop_map(Step::Withdraw),
        ]
    }

    proptest! {
        #[test]
        fn an_account_with_many_lanes_leaves_room_for_a_second(
            count in 1..300usize, waiting in 8..2_000usize,
        ) {
            let mut lanes = Lanes::new(WebhookLimits { waiting, ..LIMITS });
            let origins = origins(count);
            let first = fill_all(&mut lanes, A, &origins);
            prop_assert!(first <= waiting.div_ceil(SHARE_OF_ACCOUNT + 1), "{}", first);
            let second = fill_all(&mut lanes, B, &origins);
            prop_assert!(second > 0 && first + second <= waiting);
        }

        #[test]
        fn nothing_is_lost_or_given_out_twice_and_every_limit_holds(
            steps in proptest::collection::vec(step(), 0..200),
        ) {
            const WIDE: WebhookLimits = WebhookLimits {
                in_flight_to_proven: 4, in_flight: 17, account_parts: 2, ..LIMITS
            };
            let origins = ["x", "y", "z"];
            let mut lanes = Lanes::new(WIDE);
            let (mut pushed, mut out, mut withdrawn) = (0, 0, 0);
            let mut flying: Vec<Callback> = Vec::new();
            for step in steps {
                match step {
                    Step::Push(account, origin, number) => {
                        lanes.push((AccountId(account), origins[origin], number)).unwrap();
                        pushed += 1;
                    }
                    Step::Next => if let (most, Some(callback)) = (lanes.most(), lanes.next()) {
                        let of_account = |other: &&Callback| other.0 == callback.0;
                        let has = flying.iter().filter(of_account).count();
                        let free = WIDE.in_flight - flying.len();
                        prop_assert!(has * 2 < free, "{} of an account, {} free", has, free);
                        flying.push(callback);
                        out += 1;
                        let of_lane = |other: &&Callback| {
                            (other.0, other.1) == (callback.0, callback.1)
                        };
                        let same = flying.iter().filter(of_lane).count();
                        let health = lanes.lane(callback.0, callback.1).unwrap().health;
                        prop_assert!(same <= health.in_flight(most));
                    },
                    Step::Finish(at, result) => if at < flying.len() {
                        lanes.finish(&flying.swap_remove(at), result);
                    },
                    Step::Withdraw(at) => if let Some(callback) = flying.get(at) {
                        withdrawn += lanes.withdraw(callback, |_| true).len();
                    },
                }
                prop_assert_eq!(lanes.in_flight(), flying.len());
                prop_assert!(flying.len() <= WIDE.in_flight);
                let mut of_class = [0; HealthClass::ALL.len()];
                for &(account, origin, _) in &flying {
                    let health = lanes.lane(account, origin).unwrap().health;
                    of_class[health.class() as usize] += 1;
                }
                prop_assert_eq!(super::tests::flying(&lanes), of_class);
                let of_accounts = lanes.accounts.values().map(|owner| owner.flying.all());
                prop_assert_eq!(of_accounts.sum::<usize>(), flying.len());
                lanes.each_goes_on()?;
            }
            loop {
                while let Some(callback) = flying.pop() {
                    lanes.finish(&callback, AttemptResult::Badly);
                }
                match lanes.next() {
                    Some(callback) => { flying.push(callback); out += 1; }
                    None => break,
                }
            }
            prop_assert_eq!(out + withdrawn, pushed);
            prop_assert!(lanes.accounts.is_empty() && lanes.turns.iter().all(VecDeque::is_empty));
        }
    }
}
