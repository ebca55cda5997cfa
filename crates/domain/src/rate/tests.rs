//! Tests of a window, and of nodes that share one.

use super::*;
use crate::refusal::Refusal;
use proptest::prelude::*;

const SIXTY_SECONDS: i64 = 60_000;

fn allowed(window: &mut Window, limit: u32, now_ms: i64) -> bool {
    window.count(limit, now_ms).refused.is_none()
}

#[test]
fn no_sixty_seconds_see_more_than_the_limit() {
    let (mut window, limit) = (Window::new(0), 10);
    let granted: Vec<i64> = (0..400_000)
        .step_by(137)
        .filter(|&now| allowed(&mut window, limit, now))
        .collect();
    assert_eq!(most_in_sixty_seconds(&granted), 10);
    // A full window frees capacity repeatedly, at most one slot late.
    assert!(granted.len() >= 10 * 6, "{}", granted.len());
}

#[test]
fn a_refusal_has_the_time_of_free_capacity() {
    let mut window = Window::new(0);
    assert!(allowed(&mut window, 1, 1_000));
    let rate = window.count(1, 31_000);
    assert_eq!(rate.remaining, 0);
    assert_eq!(
        rate.refused,
        Some(Refusal::RateLimited {
            limit: 1,
            retry_after_s: 31
        })
    );
    assert!(!allowed(&mut window, 1, 60_999));
    assert!(allowed(&mut window, 1, 61_251));
}

#[test]
fn several_requests_are_counted_together_or_not_at_all() {
    let mut window = Window::new(0);
    let mut count = |many, now_ms| {
        let rate = window.count_many(100, many, now_ms);
        let retry_after = rate.refused.map(|refusal| match refusal {
            Refusal::RateLimited { retry_after_s, .. } => retry_after_s,
            other => panic!("{other}"),
        });
        (rate.remaining, retry_after)
    };
    assert_eq!(count(60, 0), (40, None));
    assert_eq!(count(30, 10_000), (10, None));
    assert_eq!(count(11, 20_000), (0, Some(41)), "when the 60 are past");
    assert_eq!(count(71, 20_000), (0, Some(51)), "when the 30 are past too");
    assert_eq!(count(10, 20_000), (0, None), "the refused took nothing");
    assert_eq!(count(61, 60_300), (0, Some(10)));
    assert_eq!(count(60, 60_300), (0, None));
}

#[test]
fn a_clock_set_back_frees_nothing_and_blocks_no_longer() {
    let mut window = Window::new(0);
    assert!(allowed(&mut window, 1, 10_000_000));
    assert!(!allowed(&mut window, 1, 1_000));
    assert!(allowed(&mut window, 1, 10_061_000));
}

fn reserve(window: &mut Window, wanted: u32, now_ms: i64) -> Reserved {
    window.reserve(&Reservation {
        limit: 100,
        wanted,
        now_ms,
        ..Reservation::default()
    })
}

#[test]
fn a_reservation_has_the_free_permits_and_the_reset_time() {
    let mut window = Window::new(0);
    let reserved = reserve(&mut window, 70, 1_100);
    let expected = Reserved {
        granted: 70,
        counted_ms: 1_000,
        remaining: 30,
        reset_ms: 61_250,
    };
    assert_eq!(reserved, expected);
    assert_eq!(reserve(&mut window, 70, 2_000).granted, 30);
    assert_eq!(reserve(&mut window, 70, 61_249).granted, 0);
    assert_eq!(reserve(&mut window, 80, 61_250).granted, 70);
}

#[test]
fn unused_permits_are_returned_to_their_slot() {
    let back = |counted_ms, now_ms| {
        let mut window = Window::new(0);
        reserve(&mut window, 10, 1_000);
        reserve(&mut window, 10, 5_000);
        let asked = Reservation {
            limit: 100,
            unused: 4,
            counted_ms,
            now_ms,
            ..Reservation::default()
        };
        let remaining = window.reserve(&asked).remaining;
        (remaining, reserve(&mut window, 0, 61_250).remaining)
    };
    // The slot of these permits has expired after a minute.
    assert_eq!(back(1_000, 6_000), (84, 90));
    assert_eq!(back(5_000, 6_000), (84, 94));
    for (counted_ms, now_ms) in [(1_000, 61_250), (500, 6_000), (7_000, 6_000)] {
        let (_, later) = back(counted_ms, now_ms);
        assert_eq!(later, 90, "{counted_ms} at {now_ms}");
    }
}

#[test]
fn a_window_without_a_count_for_a_minute_is_over() {
    let mut window = Window::new(0);
    reserve(&mut window, 1, 1_000);
    assert!(!window.is_over(60_999));
    assert!(window.is_over(61_000));
}

#[test]
fn malformed_bytes_are_no_window() {
    assert_eq!(Window::unpack(0, &[]), Some(Window::new(0)));
    assert!(Window::unpack(0, &[1; 241]).is_some());
    assert_eq!(Window::unpack(0, &[1; 242]), None, "longer than a minute");
    let huge = [0xFF, 0xFF, 0xFF, 0xFF, 0x1F];
    assert_eq!(Window::unpack(0, &huge), None);
    let most = [0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
    assert!(Window::unpack(0, &most).is_some());
    assert_eq!(Window::unpack(0, &[&most[..], &[1]].concat()), None);
}

proptest! {
    #[test]
    fn a_packed_window_unpacks_to_itself(
        steps in proptest::collection::vec((0..5_000_i64, 0..1_000_000_u32), 0..60),
    ) {
        let (mut window, mut now_ms) = (Window::new(0), 0);
        for (passed_ms, wanted) in steps {
            now_ms += passed_ms;
            window.reserve(&Reservation { limit: u32::MAX, wanted, now_ms, ..Reservation::default() });
        }
        let (newest_ms, packed) = window.pack();
        prop_assert_eq!(Window::unpack(newest_ms, &packed), Some(window));
    }
}

/// Nodes that share a window, with their permits.
struct Nodes {
    window: Window,
    permits: Vec<Permits>,
    limit: u32,
    now_ms: i64,
    /// The number of reservations.
    asked: usize,
    allowed: Vec<i64>,
    refused: Vec<i64>,
}

impl Nodes {
    fn new(nodes: usize, limit: u32) -> Self {
        Self {
            window: Window::new(0),
            permits: vec![Permits::default(); nodes],
            limit,
            now_ms: 0,
            asked: 0,
            allowed: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Advances the time. Nodes return unused permits meanwhile.
    fn pass(&mut self, ms: i64) {
        let until_ms = self.now_ms + ms;
        while self.now_ms < until_ms {
            self.now_ms = until_ms.min((self.now_ms / 250 + 1) * 250);
            for permits in &mut self.permits {
                if permits.is_idle(self.now_ms) && permits.unused() > 0 {
                    self.asked += 1;
                    self.window.reserve(&permits.give_back(self.now_ms));
                }
                if permits.is_over(self.now_ms) {
                    *permits = Permits::default();
                }
            }
        }
    }

    /// Sends a request to a node.
    fn request(&mut self, node: usize) -> Rate {
        let (nodes, now_ms) = (self.permits.len(), self.now_ms);
        let permits = &mut self.permits[node];
        let rate = loop {
            if let Some(rate) = permits.answer(self.limit, nodes, now_ms) {
                break rate;
            }
            let asked = permits.ask(1, self.limit, nodes, now_ms);
            self.asked += 1;
            permits.take(self.window.reserve(&asked), now_ms);
        };
        let list = if rate.refused.is_none() {
            &mut self.allowed
        } else {
            &mut self.refused
        };
        list.push(now_ms);
        rate
    }

    /// Returns the deviations above 5 % of the limit.
    fn fault(&self) -> Option<String> {
        let (limit, most) = (self.limit as usize, most_in_sixty_seconds(&self.allowed));
        if most > limit + limit / 20 {
            return Some(format!("{most} in sixty seconds"));
        }
        self.refused.iter().find_map(|&at_ms| {
            // A window frees the permits of a slot after all of it has passed.
            let from = self
                .allowed
                .partition_point(|&allowed| allowed <= at_ms - SIXTY_SECONDS - 250);
            let used = self.allowed.partition_point(|&allowed| allowed <= at_ms) - from;
            (used < limit - limit / 20).then(|| format!("refused at {at_ms} after {used}"))
        })
    }
}

/// Returns the maximum in 60 seconds. The times are sorted.
fn most_in_sixty_seconds(times: &[i64]) -> usize {
    let ends = times
        .iter()
        .map(|&from| times.partition_point(|&time| time < from + SIXTY_SECONDS));
    ends.enumerate()
        .map(|(from, end)| end - from)
        .max()
        .unwrap_or(0)
}

proptest! {
    #[test]
    fn nodes_keep_the_limit_within_five_percent(
        nodes in 1..5_usize,
        limit in 1..1_000_u32,
        // Requests, milliseconds between them, and the node, or `None` for each in turn.
        phases in proptest::collection::vec((1..300_usize, 0..9_u32, proptest::option::of(0..4_usize)), 1..15),
    ) {
        let mut cluster = Nodes::new(nodes, limit);
        for (requests, pace, to) in phases {
            for index in 0..requests {
                cluster.pass((1 << pace) - 1);
                cluster.request(to.unwrap_or(index) % nodes);
            }
        }
        prop_assert_eq!(cluster.fault(), None);
    }
}

#[test]
fn a_node_that_has_all_requests_counts_as_if_alone() {
    let (mut cluster, mut alone) = (Nodes::new(3, 300), Window::new(0));
    for _ in 0..320 {
        cluster.pass(20);
        let expected = alone.count(300, cluster.now_ms);
        assert_eq!(cluster.request(1).remaining, expected.remaining);
    }
    assert_eq!(cluster.allowed.len(), 300);
}

#[test]
fn a_steady_account_needs_few_reservations() {
    // 16 requests a second for two minutes, within the limit of 1,000, to one node or to three in
    // turn.
    for (all_to_one, most) in [(true, 0.1), (false, 0.2)] {
        let mut cluster = Nodes::new(3, 1_000);
        for request in 0..16 * 120 {
            cluster.pass(if request % 2 == 0 { 62 } else { 63 });
            cluster.request(if all_to_one { 0 } else { request % 3 });
        }
        let share = f64::from(u32::try_from(cluster.asked).unwrap()) / (16.0 * 120.0);
        assert!(share < most, "{share}");
        assert!(cluster.refused.is_empty());
    }
}

#[test]
fn an_account_that_pauses_holds_no_permits() {
    let mut cluster = Nodes::new(3, 600);
    for _ in 0..4 {
        for _ in 0..100 {
            cluster.request(0);
        }
        while cluster.permits[0].unused() == 0 {
            cluster.request(0);
        }
        cluster.pass(1_750);
        assert_eq!(cluster.permits[0].unused(), 0);
    }
    let asked = Reservation {
        limit: 600,
        now_ms: cluster.now_ms,
        ..Reservation::default()
    };
    // Uncounted requests are counted by the next reservation.
    let remaining = cluster.window.reserve(&asked).remaining as usize;
    let expected = 600 - cluster.allowed.len();
    assert!(
        (expected..=expected + 3).contains(&remaining),
        "{remaining}"
    );
}

#[test]
fn rare_requests_need_no_reservation() {
    for (nodes, limit, every_ms) in [(1, 300, 20_000), (3, 1_000, 12_000)] {
        let mut cluster = Nodes::new(nodes, limit);
        for request in 0..100 {
            cluster.pass(every_ms);
            let rate = cluster.request(request % nodes);
            assert!(rate.remaining >= limit - 5, "{}", rate.remaining);
        }
        assert_eq!(cluster.asked, 0);
    }
}

#[test]
fn uncounted_requests_are_counted_by_the_next_reservation() {
    let (mut window, mut permits) = (Window::new(0), Permits::default());
    let answers = (0..9).map_while(|_| permits.answer(300, 1, 1_000));
    let remaining: Vec<u32> = answers.map(|rate| rate.remaining).collect();
    assert_eq!(remaining, [299, 298, 297, 296, 295]);
    let asked = permits.ask(1, 300, 1, 1_000);
    assert_eq!((asked.wanted, asked.uncounted), (1, 5));
    let reserved = window.reserve(&asked);
    assert_eq!((reserved.granted, reserved.remaining), (1, 294));
    permits.take(reserved, 1_000);
    assert_eq!(permits.ask(0, 300, 1, 1_000).uncounted, 0);
}

#[test]
fn no_request_is_uncounted_once_half_of_the_limit_is_used() {
    let mut permits = Permits::default();
    for (remaining, expected) in [(151, true), (150, false), (0, false)] {
        let reserved = Reserved {
            granted: 0,
            counted_ms: 0,
            remaining,
            reset_ms: 60_000,
        };
        permits.take(reserved, 0);
        let is_allowed = permits.answer(300, 1, 2_000).is_some();
        assert_eq!(is_allowed, expected, "{remaining}");
    }
    // The last answer of the window has expired.
    assert!(permits.answer(300, 1, 60_250).is_some());
}

#[test]
fn a_failed_reservation_keeps_the_uncounted_requests() {
    let mut permits = Permits::default();
    while permits.answer(300, 1, 0).is_some() {}
    permits.ask(1, 300, 1, 0);
    permits.fail();
    assert_eq!(permits.answer(300, 1, 1_000), None);
    assert_eq!(permits.ask(1, 300, 1, 1_000).uncounted, 5);
}

#[test]
fn a_failed_reservation_frees_nothing_in_a_full_window() {
    let mut permits = Permits::default();
    let full = Reserved {
        granted: 3,
        counted_ms: 0,
        remaining: 0,
        reset_ms: 60_000,
    };
    permits.take(full, 0);
    permits.ask(1, 300, 1, 2_000);
    permits.fail();
    assert_eq!(permits.answer(300, 1, 2_000), None);
}

#[test]
fn a_clock_set_back_neither_prolongs_permits_nor_refusals() {
    // One case has a permit left, and the other has none and a full window.
    for limit in [2, 1] {
        let (mut window, mut permits) = (Window::new(0), Permits::default());
        let asked = Reservation {
            limit,
            wanted: 2,
            now_ms: 10_000_000,
            ..Reservation::default()
        };
        permits.take(window.reserve(&asked), asked.now_ms);
        assert!(permits.answer(limit, 1, asked.now_ms).is_some());
        assert!(permits.clone().answer(limit, 1, asked.now_ms).is_some());
        assert_eq!(permits.answer(limit, 1, 1_000), None);
        assert!(permits.is_idle(1_000));
    }
}

#[test]
fn a_full_window_needs_one_reservation_a_slot() {
    let mut cluster = Nodes::new(2, 50);
    for _ in 0..2_000 {
        cluster.pass(1);
        cluster.request(0);
    }
    assert_eq!((cluster.allowed.len(), cluster.refused.len()), (50, 1_950));
    // Some reservations get the permits, and then there is one in each slot.
    assert!(cluster.asked < 60, "{}", cluster.asked);
}
