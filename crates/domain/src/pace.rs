//! The pace of a carrier: a token bucket whose rate falls when the carrier throttles.

/// A rate is counted in thousandths of a submit a second.
const MILLI: i64 = 1_000;
/// Tokens are counted in millionths of a submit, which is a rate times milliseconds, so nothing is
/// lost by frequent reads.
const MICRO: i64 = 1_000_000;
/// Time without submits after the carrier throttled.
const PAUSE_MS: i64 = 1_000;
/// The lowest rate that throttling leads to: one submit a second.
const SLOWEST: i64 = MILLI;
/// Divisor for the part of the rate that is regained in each second without throttling.
const RECOVERY: i64 = 20;
const SECOND_MS: i64 = 1_000;
/// Time whose submits may be sent at once. The burst is at least a whole multipart message.
const BURST_MS: i64 = 50;
/// Time whose submits are worth a claim, see [`Pace::min_claim`]. It must be less than the burst.
const MIN_CLAIM_MS: i64 = 20;
/// Number of throttled tries of one recipient after which its throttling does not slow down the
/// carrier.
const MAX_COUNTED_THROTTLES: i64 = 3;
/// Number of accepted submits after which a single throttled one does not slow down the carrier.
const MIN_ACCEPTED_BETWEEN: u32 = 50;
const MIN_BURST: i64 = 10;
/// The rate of a carrier without a limit after its first throttling.
const FIRST_UNLIMITED: i64 = 1_000 * MILLI;

/// A token bucket whose rate is halved by throttling and recovers gradually.
#[derive(Clone, Debug)]
pub struct Pace {
    /// The configured rate in thousandths of a submit a second, or `None` without a limit.
    limit: Option<i64>,
    /// The current rate.
    rate: Option<i64>,
    tokens_micro: i64,
    counted_ms: i64,
    /// The time up to which the rate has recovered.
    recovered_ms: i64,
    paused_until_ms: i64,
    /// Number of submits that were accepted since the last throttled one.
    accepted: u32,
}

impl Pace {
    /// Creates the pace of a carrier with a limit of submits a second, or without one.
    pub fn new(limit: Option<u32>, now_ms: i64) -> Self {
        let limit = limit.map(|limit| i64::from(limit) * MILLI);
        let mut pace = Self {
            limit,
            rate: limit,
            tokens_micro: 0,
            counted_ms: now_ms,
            recovered_ms: now_ms,
            paused_until_ms: 0,
            accepted: 0,
        };
        pace.tokens_micro = pace.rate.map_or(0, burst);
        pace
    }

    /// Sets the share of the limit for `held` of `all` connections. A reduced rate recovers from
    /// its current value.
    pub fn set_share(&mut self, limit: Option<u32>, held: usize, all: usize) {
        let part = |limit: u32| {
            let (held, all) = (i64::try_from(held), i64::try_from(all.max(1)));
            i64::from(limit) * MILLI * held.unwrap_or(i64::MAX) / all.unwrap_or(i64::MAX)
        };
        let limit = limit.map(|limit| part(limit).max(1));
        let unthrottled = self.rate == self.limit;
        self.rate = match (self.rate, limit) {
            (Some(rate), Some(limit)) if !unthrottled => Some(rate.min(limit)),
            (Some(rate), None) if !unthrottled => Some(rate),
            _ => limit,
        };
        self.limit = limit;
        self.tokens_micro = self.tokens_micro.min(self.rate.map_or(0, burst));
    }

    /// Returns how many submits may be sent now.
    pub fn available(&mut self, now_ms: i64) -> usize {
        if now_ms < self.paused_until_ms {
            return 0;
        }
        let Some(rate) = self.recovered(now_ms) else {
            return usize::MAX;
        };
        let passed = (now_ms - self.counted_ms).clamp(0, 10_000);
        self.counted_ms = now_ms;
        self.tokens_micro = (self.tokens_micro + rate * passed).min(burst(rate));
        usize::try_from(self.tokens_micro / MICRO).unwrap_or(0)
    }

    /// Counts sent submits.
    pub fn spend(&mut self, submits: usize) {
        if self.rate.is_some() {
            self.tokens_micro -= i64::try_from(submits).unwrap_or(i64::MAX / MICRO) * MICRO;
        }
    }

    /// Returns the smallest worthwhile claim: the submits of a few milliseconds.
    pub fn min_claim(&self) -> usize {
        let due = self
            .rate
            .map_or(0, |rate| rate * MIN_CLAIM_MS / 1_000 / MILLI);
        usize::try_from(due).unwrap_or(0).max(1)
    }

    /// Returns when so many submits may be sent, at most [`Pace::min_claim`], in milliseconds of
    /// the steady time.
    pub fn next_ms(&self, now_ms: i64, submits: usize) -> i64 {
        let wanted = i64::try_from(submits).unwrap_or(1) * MICRO;
        let missing = (wanted - self.tokens_micro).max(0);
        let wait = self
            .rate
            .map_or(0, |rate| missing.div_euclid(rate.max(1)) + 1);
        (now_ms + wait).max(self.paused_until_ms)
    }

    /// Records an accepted submit.
    pub fn accepted(&mut self) {
        self.accepted = self.accepted.saturating_add(1);
    }

    /// Records a throttled submit of a recipient that was throttled `before` times earlier.
    pub fn throttled(&mut self, now_ms: i64, before: i64) {
        let accepted = std::mem::take(&mut self.accepted);
        // If other submits are accepted in between, only this recipient is throttled.
        let is_alone = before >= MAX_COUNTED_THROTTLES || (before > 0 && accepted > 0);
        if is_alone || accepted >= MIN_ACCEPTED_BETWEEN {
            return;
        }
        // All submits of the window are throttled together, which counts once.
        if now_ms < self.paused_until_ms {
            return;
        }
        let rate = self.rate.unwrap_or(FIRST_UNLIMITED);
        self.rate = Some((rate / 2).max(SLOWEST));
        self.tokens_micro = self.tokens_micro.clamp(0, MICRO);
        self.paused_until_ms = now_ms + PAUSE_MS;
        self.counted_ms = self.paused_until_ms;
        self.recovered_ms = self.paused_until_ms;
    }

    /// Returns the current rate with its recovery.
    fn recovered(&mut self, now_ms: i64) -> Option<i64> {
        let rate = self.rate?;
        let seconds = (now_ms - self.recovered_ms).max(0) / SECOND_MS;
        self.recovered_ms += seconds * SECOND_MS;
        if Some(rate) == self.limit {
            return Some(rate);
        }
        let wanted = rate + rate * seconds.min(60) / RECOVERY;
        self.rate = match self.limit {
            Some(limit) => Some(wanted.min(limit)),
            None if wanted >= FIRST_UNLIMITED * 10 => None,
            None => Some(wanted),
        };
        self.rate
    }
}

/// Returns the burst at this rate, in millionths of a submit.
fn burst(rate: i64) -> i64 {
    (rate * BURST_MS).max(MIN_BURST * MICRO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends as much as possible every 5 ms. Returns the number of submits.
    fn run(pace: &mut Pace, from_ms: i64, until_ms: i64) -> usize {
        let mut sent = 0;
        for now in (from_ms..until_ms).step_by(5) {
            let available = pace.available(now).min(10_000);
            pace.spend(available);
            sent += available;
        }
        sent
    }

    #[test]
    fn a_limit_is_kept_to_within_the_burst() {
        let mut pace = Pace::new(Some(500), 0);
        let sent = run(&mut pace, 0, 10_000);
        assert!((5_000..=5_030).contains(&sent), "{sent}");
    }

    #[test]
    fn a_pace_without_a_limit_is_never_exhausted() {
        assert_eq!(Pace::new(None, 0).available(0), usize::MAX);
    }

    #[test]
    fn a_multipart_message_is_never_larger_than_the_burst() {
        assert!(Pace::new(Some(1), 0).available(0) >= 10);
    }

    #[test]
    fn nodes_keep_the_limit_while_connections_move() {
        let (mut one, mut two) = (Pace::new(Some(900), 0), Pace::new(Some(900), 0));
        one.set_share(Some(900), 2, 3);
        two.set_share(Some(900), 1, 3);
        let sent = run(&mut one, 0, 10_000) + run(&mut two, 0, 10_000);
        assert!((9_000..=9_060).contains(&sent), "{sent}");
        one.set_share(Some(900), 3, 3);
        two.set_share(Some(900), 0, 3);
        let sent = run(&mut one, 10_000, 20_000) + run(&mut two, 10_000, 20_000);
        assert!((9_000..=9_060).contains(&sent), "{sent}");
    }

    #[test]
    fn a_claim_is_possible_at_the_returned_time_and_not_before() {
        for (limit, min_claim) in [(1, 1), (40, 1), (500, 10), (1_000, 20), (7_777, 155)] {
            let mut pace = Pace::new(Some(limit), 0);
            assert_eq!(pace.min_claim(), min_claim, "{limit}");
            for submits in [1, min_claim] {
                let available = pace.available(100_000);
                pace.spend(available);
                let at_ms = pace.next_ms(100_000, submits);
                assert!(
                    pace.clone().available(at_ms - 2) < submits,
                    "{limit} {submits}"
                );
                assert!(
                    pace.clone().available(at_ms) >= submits,
                    "{limit} {submits}"
                );
            }
        }
        let pace = Pace::new(None, 0);
        assert_eq!((pace.min_claim(), pace.next_ms(7, 1)), (1, 7));
    }

    #[test]
    fn a_burst_is_50_ms_of_the_rate_or_a_multipart_message() {
        for (limit, burst) in [(1, 10), (200, 10), (201, 10), (1_000, 50), (40_000, 2_000)] {
            let mut pace = Pace::new(Some(limit), 0);
            assert_eq!(
                (pace.available(0), pace.available(60_000)),
                (burst, burst),
                "{limit}"
            );
            pace.spend(burst);
            assert_eq!(pace.available(60_000), 0, "{limit}");
        }
        let mut slow = Pace::new(Some(1), 0);
        slow.spend(10);
        assert_eq!(
            [999, 1_000, 4_000].map(|now_ms| slow.available(now_ms)),
            [0, 1, 4]
        );
        let mut unlimited = Pace::new(None, 0);
        unlimited.spend(1_000_000);
        assert_eq!(unlimited.available(1), usize::MAX);
    }

    #[test]
    fn throttling_halves_the_pace_once_for_a_whole_window() {
        let mut pace = Pace::new(Some(1_000), 0);
        pace.throttled(5_000, 0);
        pace.throttled(5_999, 0);
        assert_eq!((pace.rate, pace.available(5_999)), (Some(500_000), 0));
        assert_eq!(pace.next_ms(5_500, 1), 6_000);
        // One submit may be tried at once, and a twentieth is regained each second.
        assert_eq!(pace.available(6_000), 1);
        pace.available(7_000);
        assert_eq!(pace.rate, Some(525_000));
        pace.throttled(7_000, 0);
        assert_eq!(pace.rate, Some(262_500));
        for second in 0..20 {
            pace.throttled(10_000 + 1_000 * second, 0);
        }
        assert_eq!(pace.rate, Some(1_000), "one a second is the slowest");
        let mut unlimited = Pace::new(None, 0);
        unlimited.throttled(0, 0);
        assert_eq!(unlimited.rate, Some(500_000));
        for second in 1..=61 {
            unlimited.available(1_000 * second);
        }
        assert!(unlimited.rate.is_some_and(|rate| rate > 8_000_000));
        unlimited.available(64_000);
        assert_eq!(unlimited.rate, None);
    }

    #[test]
    fn a_share_of_the_limit_keeps_a_reduced_rate() {
        let mut pace = Pace::new(Some(900), 0);
        pace.set_share(Some(900), 1, 3);
        assert_eq!((pace.limit, pace.rate), (Some(300_000), Some(300_000)));
        assert_eq!(pace.tokens_micro, 15_000_000, "no more than goes at once");
        pace.throttled(0, 0);
        pace.set_share(Some(900), 3, 3);
        assert_eq!((pace.limit, pace.rate), (Some(900_000), Some(150_000)));
        pace.set_share(Some(300), 1, 3);
        assert_eq!((pace.limit, pace.rate), (Some(100_000), Some(100_000)));
        pace.set_share(Some(600), 0, 3);
        assert_eq!((pace.limit, pace.rate), (Some(1), Some(1)));
        pace.set_share(None, 1, 1);
        assert_eq!((pace.limit, pace.rate), (None, None));
        pace.throttled(5_000, 0);
        pace.set_share(None, 2, 0);
        assert_eq!((pace.limit, pace.rate), (None, Some(500_000)));
    }

    #[test]
    fn frequent_reads_lose_no_tokens() {
        // A third of a submit a second, and a rate reduced by throttling, both read for each
        // receipt.
        let mut third = Pace::new(Some(1), 20_000);
        third.set_share(Some(1), 1, 3);
        third.spend(10);
        let mut slow = Pace::new(Some(1_000), 0);
        (0..20).for_each(|second| slow.throttled(second * SECOND_MS, 0));
        let mut gone = 0;
        for now_ms in 20_000..140_000 {
            let available = third.available(now_ms);
            third.spend(available);
            gone += available;
            slow.available(now_ms);
        }
        assert!((39..=40).contains(&gone), "{gone}");
        assert!(slow.rate.is_some_and(|rate| rate > 300_000), "{slow:?}");
    }

    #[test]
    fn throttling_pauses_halves_and_recovers() {
        let mut pace = Pace::new(Some(1_000), 0);
        pace.throttled(0, 0);
        pace.throttled(10, 0);
        assert_eq!(run(&mut pace, 0, 1_000), 0);
        let first = run(&mut pace, 1_000, 2_000);
        assert!((400..=600).contains(&first), "{first}");
        run(&mut pace, 2_000, 60_000);
        let later = run(&mut pace, 60_000, 61_000);
        assert!(later >= 950, "{later}");
    }

    #[test]
    fn a_recipient_that_is_always_throttled_slows_no_other() {
        let mut pace = Pace::new(Some(1_000), 0);
        for minute in 0..60 {
            pace.throttled(60_000 * minute, MAX_COUNTED_THROTTLES);
        }
        pace.accepted();
        pace.throttled(3_600_000, 1);
        // Many throttled recipients among accepted ones do not slow down the carrier either.
        let mut second = 0;
        for _ in 0..1_000 {
            (0..MIN_ACCEPTED_BETWEEN).for_each(|_| pace.accepted());
            second += 1;
            pace.throttled(4_000_000 + 1_000 * second, 0);
        }
        assert_eq!(pace.rate, Some(1_000_000));
        // With few accepted ones in between, the carrier itself throttles.
        pace.accepted();
        pace.throttled(6_000_000, 0);
        assert_eq!(pace.rate, Some(500_000));
        pace.throttled(6_001_000, 1);
        assert_eq!(pace.rate, Some(250_000));
    }
}
