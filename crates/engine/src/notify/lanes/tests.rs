use super::*;
use domain::Environment;
use proptest::prelude::*;

const LIMITS: WebhookLimits = WebhookLimits {
    in_flight_per_lane: 2,
    in_flight_to_healthy: 2,
    in_flight: 5,
    account_divisor: 0,
    waiting: 900,
};
/// The capacity of the first lane.
const ONE_LANE: usize = LIMITS.waiting / (ACCOUNT_SHARE_DIVISOR + 1) / (LANE_SHARE_DIVISOR + 1);
const A: AccountId = AccountId(1);
const B: AccountId = AccountId(2);

/// Callbacks from this number on are retries.
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

/// Returns lanes of healthy receivers.
fn lanes(callbacks: &[(AccountId, &'static str, usize)]) -> Lanes<Callback> {
    let mut lanes = Lanes::new(LIMITS);
    for &(account, origin, count) in callbacks {
        let key = (account, Arc::from(origin));
        lanes.known.insert(key, Health::Healthy);
        for number in 0..count {
            lanes.push((account, origin, number)).unwrap();
        }
    }
    lanes
}

fn flying(lanes: &Lanes<Callback>) -> [usize; HealthClass::ALL.len()] {
    HealthClass::ALL.map(|class| lanes.class_counts.of(class))
}

fn drain(lanes: &mut Lanes<Callback>) -> Vec<Callback> {
    std::iter::from_fn(|| lanes.next()).collect()
}

#[test]
fn accounts_alternate_and_so_do_their_origins() {
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
fn tasks_start_in_groups_and_take_the_next_callback() {
    let mut lanes = lanes(&[(A, "x", 90), (B, "z", 90)]);
    lanes.limits = WebhookLimits {
        in_flight_per_lane: 90,
        in_flight_to_healthy: 90,
        in_flight: 180,
        ..LIMITS
    };
    let begun = |lanes: &mut Lanes<Callback>| std::iter::from_fn(|| lanes.start()).count();
    assert_eq!(begun(&mut lanes), MAX_STARTS);
    assert!(lanes.must_pause());
    lanes.finish(&(A, "x", 0), AttemptResult::Answered);
    assert_eq!(begun(&mut lanes), 0);
    assert!(lanes.next().is_some());
    lanes.paused();
    assert_eq!(begun(&mut lanes), MAX_STARTS);
    assert_eq!(lanes.in_flight(), 2 * MAX_STARTS);
}

#[test]
fn a_lane_keeps_its_limit_and_continues() {
    let mut lanes = lanes(&[(A, "slow", 9), (A, "quick", 3)]);
    assert_eq!(drain(&mut lanes).len(), 4);
    lanes.finish(&(A, "quick", 0), AttemptResult::Answered);
    assert_eq!(lanes.next(), Some((A, "quick", 2)));
    lanes.finish(&(A, "quick", 0), AttemptResult::Answered);
    lanes.finish(&(A, "quick", 0), AttemptResult::Answered);
    assert_eq!(lanes.next(), None);
    assert_eq!(lanes.in_flight(), 2);
    lanes.finish(&(A, "slow", 0), AttemptResult::Answered);
    assert_eq!(lanes.next(), Some((A, "slow", 2)));
}

#[test]
fn a_healthy_receiver_has_a_higher_limit_while_most_is_free() {
    let mut lanes = lanes(&[(A, "x", 20), (B, "z", 20)]);
    lanes.push((A, "new", 0)).unwrap();
    lanes.limits = WebhookLimits {
        in_flight_to_healthy: 4,
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
        lanes.finish(&(A, "x", done), AttemptResult::Answered);
        let at = flying.iter().position(|callback| callback.1 == "x");
        flying.remove(at.unwrap());
        flying.extend(drain(&mut lanes));
        assert_eq!(count(&flying, "x"), left, "after {done}");
    }
    lanes.limits.in_flight = 36;
    lanes.finish(&(A, "x", 3), AttemptResult::Failed);
    assert_eq!(
        drain(&mut lanes),
        [(A, "x", 5)],
        "the receiver is not healthy"
    );
}

#[test]
fn first_attempts_and_retries_of_a_lane_alternate() {
    let mut lanes = lanes(&[(A, "x", 0)]);
    for number in (RETRY..RETRY + 5).chain(0..2) {
        lanes.push((A, "x", number)).unwrap();
    }
    let order: Vec<usize> = std::iter::from_fn(|| {
        let callback = lanes.next()?;
        lanes.finish(&callback, AttemptResult::Answered);
        Some(callback.2)
    })
    .collect();
    let retry = |number| RETRY + number;
    let by_turns = [0, retry(0), 1, retry(1), retry(2), retry(3), retry(4)];
    assert_eq!(order, by_turns);
}

#[test]
fn retries_use_no_capacity_of_first_attempts() {
    let mut lanes = lanes(&[]);
    let retries = (RETRY..).take_while(|&number| lanes.push((A, "x", number)).is_ok());
    assert_eq!(retries.count(), ONE_LANE);
    assert_eq!(lanes.capacity(A, "x"), 0, "no capacity for retries");
    lanes.push((A, "x", 0)).unwrap();
}

#[test]
fn unproven_receivers_have_half_of_the_concurrency() {
    let mut lanes = lanes(&[(A, "well", 1)]);
    for account in 10..1_010 {
        lanes.push((AccountId(account), "dead", 0)).ok();
    }
    assert_eq!(drain(&mut lanes).len(), 4);
    assert_eq!(flying(&lanes), [1, 3, 0]);
    lanes.finish(&(A, "well", 0), AttemptResult::Answered);
    for number in 1..3 {
        lanes.push((A, "well", number)).unwrap();
        assert_eq!(lanes.next(), Some((A, "well", number)));
    }
    assert_eq!(lanes.next(), None);
}

#[test]
fn failing_receivers_leave_concurrency_to_new_ones() {
    let mut lanes = lanes(&[]);
    for account in 10..1_010 {
        lanes.push((AccountId(account), "dead", RETRY)).ok();
    }
    assert_eq!(drain(&mut lanes).len(), 2, "half of half, rounded up");
    assert_eq!(flying(&lanes), [0, 0, 2]);
    lanes.push((A, "new", 0)).unwrap();
    assert_eq!(lanes.next(), Some((A, "new", 0)));
    lanes.push((B, "new", 0)).unwrap();
    assert_eq!(lanes.next(), None, "half is in use");
    lanes.finish(&(A, "new", 0), AttemptResult::Answered);
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
    lanes.finish(&(A, "x", 0), AttemptResult::Answered);
    assert_eq!(lanes.next(), None, "no retry may start yet");
    lanes.finish(&(A, "x", RETRY), AttemptResult::Failed);
    assert_eq!(drain(&mut lanes), [(A, "x", RETRY + 1)]);
}

#[test]
fn a_failing_receiver_gets_one_callback_at_a_time() {
    let mut lanes = lanes(&[(A, "x", 20)]);
    let mut flying = drain(&mut lanes);
    assert_eq!(flying.len(), 2);
    let mut changes = Vec::new();
    for result in [AttemptResult::Failed; 7]
        .into_iter()
        .chain([AttemptResult::Answered])
    {
        let release = lanes.finish(&flying.remove(0), result);
        changes.extend(release.is_open);
        flying.extend(drain(&mut lanes));
        assert_eq!(
            (flying.len(), lanes.open_breakers()),
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
fn the_health_of_a_receiver_outlives_its_lane() {
    let mut lanes = lanes(&[]);
    for number in 0..6 {
        lanes.push((A, "x", number)).unwrap();
        assert_eq!(lanes.next(), Some((A, "x", number)));
        lanes.finish(&(A, "x", number), AttemptResult::Failed);
    }
    assert!(lanes.accounts.is_empty());
    for number in 0..3 {
        lanes.push((A, "x", number)).unwrap();
    }
    assert_eq!(drain(&mut lanes).len(), 1);
}

#[test]
fn a_full_lane_leaves_capacity_for_others() {
    let mut lanes = Lanes::new(LIMITS);
    let fill = |lanes: &mut Lanes<Callback>, account, origin| {
        (0..LIMITS.waiting)
            .take_while(|&n| lanes.push((account, origin, n)).is_ok())
            .count()
    };
    let capacity = lanes.capacity(A, "dead");
    assert_eq!(capacity, ONE_LANE);
    assert_eq!(fill(&mut lanes, A, "dead"), capacity);
    for account in 10..50 {
        assert!(fill(&mut lanes, AccountId(account), "also dead") > 0);
    }
    assert!(fill(&mut lanes, B, "healthy") > 0);
    assert!(lanes.waiting < LIMITS.waiting);
}

#[test]
fn a_low_lane_requests_a_refill_once() {
    let mut lanes = lanes(&[(A, "x", 4)]);
    assert!(lanes.next().is_some());
    assert!(
        !lanes
            .finish(&(A, "x", 0), AttemptResult::Answered)
            .needs_refill
    );
    assert!(lanes.expect_more(A, "x"));
    assert!(!lanes.expect_more(A, "y"), "there is no such lane");
    assert!(lanes.next().is_some());
    assert!(
        lanes
            .finish(&(A, "x", 0), AttemptResult::Answered)
            .needs_refill
    );
    assert!(lanes.next().is_some());
    assert!(
        !lanes
            .finish(&(A, "x", 0), AttemptResult::Answered)
            .needs_refill
    );
}

#[test]
fn a_withdrawn_callback_never_starts() {
    let mut lanes = lanes(&[(A, "x", 4)]);
    assert_eq!(lanes.next(), Some((A, "x", 0)));
    assert_eq!(lanes.withdraw(&(A, "x", 0), |_| true).len(), 3);
    assert_eq!(lanes.next(), None);
    lanes.push((A, "x", 9)).unwrap();
    assert_eq!(lanes.next(), Some((A, "x", 9)));
}

#[test]
fn closing_returns_queued_callbacks_and_starts_none() {
    let mut lanes = lanes(&[(A, "x", 4), (B, "z", 1)]);
    assert!(lanes.next().is_some());
    assert_eq!(lanes.close().len(), 4);
    assert_eq!(lanes.next(), None);
    assert!(lanes.push((A, "x", 9)).is_err());
    lanes.finish(&(A, "x", 0), AttemptResult::Answered);
    assert_eq!(lanes.in_flight(), 0);
}

/// Fills the lanes of an account. Returns how many callbacks they took.
fn fill_all(lanes: &mut Lanes<Callback>, account: AccountId, origins: &[&'static str]) -> usize {
    let full = |lanes: &mut Lanes<Callback>, origin| {
        let numbers = (0..).take_while(|number| lanes.push((account, origin, *number)).is_ok());
        let retries = numbers.count();
        let numbers = (RETRY..).take_while(|number| lanes.push((account, origin, *number)).is_ok());
        retries + numbers.count()
    };
    origins.iter().map(|origin| full(lanes, origin)).sum()
}

fn origins(count: usize) -> Vec<&'static str> {
    let origin = |number: usize| -> &'static str { number.to_string().leak() };
    (0..count).map(origin).collect()
}

#[test]
fn all_lanes_of_an_account_leave_capacity_for_others() {
    let mut lanes = Lanes::new(LIMITS);
    let taken = fill_all(&mut lanes, A, &origins(500));
    assert_eq!(taken, LIMITS.waiting / (ACCOUNT_SHARE_DIVISOR + 1));
    assert_eq!(lanes.capacity(A, "has_more_due"), 0);
    assert!(lanes.capacity(B, "one") > 0);
    for account in 10..20 {
        assert!(fill_all(&mut lanes, AccountId(account), &["one"]) > 0);
    }
}

#[test]
fn one_account_with_many_origins_never_uses_all_concurrency() {
    let limits = WebhookLimits {
        in_flight: 512,
        account_divisor: 3,
        waiting: 20_000,
        ..LIMITS
    };
    let origins = origins(1_000);
    for health in [Health::Healthy, Health::Unknown, Health::Failing(1)] {
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
fn slow_receivers_leave_concurrency_to_others_of_the_account() {
    let mut lanes = Lanes::new(WebhookLimits {
        in_flight: 512,
        account_divisor: 3,
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
    /// A lane with queued callbacks is queued itself, or has a callback in flight whose end
    /// queues it.
    fn each_lane_continues(&self) -> Result<(), TestCaseError> {
        for (account, owner) in &self.accounts {
            for (origin, lane) in &owner.lanes {
                let class = lane.health.class() as usize;
                let is_queued = owner.queues[class].contains(origin);
                prop_assert_eq!(is_queued, lane.queued);
                prop_assert!(!is_queued || self.queues[class].contains(account));
                prop_assert!(is_queued || lane.in_flight > 0 || lane.waiting.is_empty());
            }
        }
        Ok(())
    }
}

fn result() -> impl Strategy<Value = AttemptResult> {
    prop_oneof![1 => Just(AttemptResult::Answered), 3 => Just(AttemptResult::Failed), 1 => Just(AttemptResult::NotTried)]
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
    fn an_account_with_many_lanes_leaves_capacity_for_a_second(
        count in 1..300usize, waiting in 8..2_000usize,
    ) {
        let mut lanes = Lanes::new(WebhookLimits { waiting, ..LIMITS });
        let origins = origins(count);
        let first = fill_all(&mut lanes, A, &origins);
        prop_assert!(first <= waiting.div_ceil(ACCOUNT_SHARE_DIVISOR + 1), "{}", first);
        let second = fill_all(&mut lanes, B, &origins);
        prop_assert!(second > 0 && first + second <= waiting);
    }

    #[test]
    fn each_callback_starts_once_and_every_limit_holds(
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        const WIDE: WebhookLimits = WebhookLimits {
            in_flight_to_healthy: 4, in_flight: 17, account_divisor: 2, ..LIMITS
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
                Step::Next => if let (limit, Some(callback)) = (lanes.limit(), lanes.next()) {
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
                    prop_assert!(same <= health.in_flight(limit));
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
            let of_accounts = lanes.accounts.values().map(|owner| owner.class_counts.all());
            prop_assert_eq!(of_accounts.sum::<usize>(), flying.len());
            lanes.each_lane_continues()?;
        }
        loop {
            while let Some(callback) = flying.pop() {
                lanes.finish(&callback, AttemptResult::Failed);
            }
            match lanes.next() {
                Some(callback) => { flying.push(callback); out += 1; }
                None => break,
            }
        }
        prop_assert_eq!(out + withdrawn, pushed);
        prop_assert!(lanes.accounts.is_empty() && lanes.queues.iter().all(VecDeque::is_empty));
    }
}
