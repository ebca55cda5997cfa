//! The pace of a carrier: a limit of submits a second that gives way when the carrier says it is too fast.

/// A pace is counted in thousandths of a submit a second.
const MILLI: i64 = 1_000;
/// The due submits are counted in millionths: a pace times milliseconds, with nothing lost, however
/// often they are asked for.
const MICRO: i64 = 1_000_000;
/// How long nothing is sent after the carrier said that it is too fast.
const PAUSE_MS: i64 = 1_000;
/// The slowest pace that throttling leads to: a submit a second.
const SLOWEST: i64 = MILLI;
/// The part of the pace that is regained after each second without throttling: a twentieth.
const RECOVERY: i64 = 20;
const SECOND_MS: i64 = 1_000;
/// Submits that may go at once: as many as come due in this time, and at least a whole long message.
const BURST_MS: i64 = 50;
/// See [`Pace::portion`]; less than the burst, or it would never be reached.
const PORTION_MS: i64 = 20;
/// A recipient who was throttled so often before tells nothing of the carrier: it alone may be meant.
const MAX_THROTTLES_HEEDED: i64 = 3;
/// Nor does one submit that is throttled among so many that were taken.
const MIN_TAKEN_BETWEEN: u32 = 50;
const MIN_BURST: i64 = 10;
/// The pace that a carrier without a limit falls to when it throttles for the first time.
const FIRST_UNLIMITED: i64 = 1_000 * MILLI;

/// A token bucket, halved by throttling and recovering bit by bit.
#[derive(Clone, Debug)]
pub struct Pace {
    /// Thousandths of a submit a second, by configuration; `None` without a limit.
    limit: Option<i64>,
    /// The same, now.
    rate: Option<i64>,
    tokens_micro: i64,
    counted_ms: i64,
    /// Until when what throttling took away was regained.
    recovered_ms: i64,
    paused_until_ms: i64,
    /// Submits that the carrier took since it throttled one.
    taken: u32,
}

impl Pace {
    /// A carrier that takes `limit` submits a second, or any number.
    pub fn new(limit: Option<u32>, now_ms: i64) -> Self {
        let limit = limit.map(|limit| i64::from(limit) * MILLI);
        let mut pace = Self {
            limit,
            rate: limit,
            tokens_micro: 0,
            counted_ms: now_ms,
            recovered_ms: now_ms,
            paused_until_ms: 0,
            taken: 0,
        };
        pace.tokens_micro = pace.rate.map_or(0, burst);
        pace
    }

    /// Sets a share of a limit of submits a second: `held` of `all` connections. The pace that throttling took away
    /// is regained from there.
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

    /// How many submits may go now.
    pub fn room(&mut self, now_ms: i64) -> usize {
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

    /// Counts submits that went.
    pub fn spend(&mut self, submits: usize) {
        if self.rate.is_some() {
            self.tokens_micro -= i64::try_from(submits).unwrap_or(i64::MAX / MICRO) * MICRO;
        }
    }

    /// How many submits are worth a look at the database: what comes due in a few milliseconds.
    pub fn portion(&self) -> usize {
        let due = self
            .rate
            .map_or(0, |rate| rate * PORTION_MS / 1_000 / MILLI);
        usize::try_from(due).unwrap_or(0).max(1)
    }

    /// When there is room for so many submits, Unix milliseconds; no more than a portion may be asked for.
    pub fn next_ms(&self, now_ms: i64, submits: usize) -> i64 {
        let wanted = i64::try_from(submits).unwrap_or(1) * MICRO;
        let missing = (wanted - self.tokens_micro).max(0);
        let wait = self
            .rate
            .map_or(0, |rate| missing.div_euclid(rate.max(1)) + 1);
        (now_ms + wait).max(self.paused_until_ms)
    }

    /// The carrier took a submit.
    pub fn taken(&mut self) {
        self.taken = self.taken.saturating_add(1);
    }

    /// The carrier answered that it is too fast, for a recipient for whom it had done so that many times before.
    pub fn throttled(&mut self, now_ms: i64, before: i64) {
        let taken = std::mem::take(&mut self.taken);
        // Where others are taken in between, one that is throttled again is meant alone.
        let is_alone = before >= MAX_THROTTLES_HEEDED || (before > 0 && taken > 0);
        if is_alone || taken >= MIN_TAKEN_BETWEEN {
            return;
        }
        // All that was on its way when the pace was still the old one says the same: it counts once.
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

    /// The pace now, after what was regained since it was last looked at.
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

/// Returns the burst that may go at once at this pace, in millionths of a submit.
fn burst(rate: i64) -> i64 {
    (rate * BURST_MS).max(MIN_BURST * MICRO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends all there is room for, every 5 ms; gives how many went.
    fn run(pace: &mut Pace, from_ms: i64, until_ms: i64) -> usize {
        let mut sent = 0;
        for now in (from_ms..until_ms).step_by(5) {
            let room = pace.room(now).min(10_000);
            pace.spend(room);
            sent += room;
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
    fn without_a_limit_there_is_always_room() {
        assert_eq!(Pace::new(None, 0).room(0), usize::MAX);
    }

    #[test]
    fn a_long_message_is_never_larger_than_the_burst() {
        assert!(Pace::new(Some(1), 0).room(0) >= 10);
    }

    #[test]
    fn nodes_keep_the_limit_together_as_connections_change_hands() {
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
    fn a_portion_has_room_at_the_promised_time_and_not_before() {
        for (limit, portion) in [(1, 1), (40, 1), (500, 10), (1_000, 20), (7_777, 155)] {
            let mut pace = Pace::new(Some(limit), 0);
            assert_eq!(pace.portion(), portion, "{limit}");
            for submits in [1, portion] {
                let room = pace.room(100_000);
                pace.spend(room);
                let at_ms = pace.next_ms(100_000, submits);
                assert!(pace.clone().room(at_ms - 2) < submits, "{limit} {submits}");
                assert!(pace.clone().room(at_ms) >= submits, "{limit} {submits}");
            }
        }
        let pace = Pace::new(None, 0);
        assert_eq!((pace.portion(), pace.next_ms(7, 1)), (1, 7));
    }

    #[test]
    fn a_burst_is_a_moment_of_the_pace_or_a_long_message() {
        for (limit, burst) in [(1, 10), (200, 10), (201, 10), (1_000, 50), (40_000, 2_000)] {
            let mut pace = Pace::new(Some(limit), 0);
            assert_eq!((pace.room(0), pace.room(60_000)), (burst, burst), "{limit}");
            pace.spend(burst);
            assert_eq!(pace.room(60_000), 0, "{limit}");
        }
        let mut slow = Pace::new(Some(1), 0);
        slow.spend(10);
        assert_eq!(
            [999, 1_000, 4_000].map(|now_ms| slow.room(now_ms)),
            [0, 1, 4]
        );
        let mut unlimited = Pace::new(None, 0);
        unlimited.spend(1_000_000);
        assert_eq!(unlimited.room(1), usize::MAX);
    }

    #[test]
    fn throttling_halves_the_pace_once_for_a_whole_window() {
        let mut pace = Pace::new(Some(1_000), 0);
        pace.throttled(5_000, 0);
        pace.throttled(5_999, 0);
        assert_eq!((pace.rate, pace.room(5_999)), (Some(500_000), 0));
        assert_eq!(pace.next_ms(5_500, 1), 6_000);
        // One may try again at once; a twentieth is regained each second.
        assert_eq!(pace.room(6_000), 1);
        pace.room(7_000);
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
            unlimited.room(1_000 * second);
        }
        assert!(unlimited.rate.is_some_and(|rate| rate > 8_000_000));
        unlimited.room(64_000);
        assert_eq!(unlimited.rate, None);
    }

    #[test]
    fn a_share_of_the_limit_keeps_what_throttling_took_away() {
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
    fn nothing_is_lost_however_often_it_is_looked_at() {
        // A third of a submit a second, and a pace that throttling has brought down, looked at for each receipt
        // that comes in meanwhile.
        let mut third = Pace::new(Some(1), 20_000);
        third.set_share(Some(1), 1, 3);
        third.spend(10);
        let mut slow = Pace::new(Some(1_000), 0);
        (0..20).for_each(|second| slow.throttled(second * SECOND_MS, 0));
        let mut gone = 0;
        for now_ms in 20_000..140_000 {
            let room = third.room(now_ms);
            third.spend(room);
            gone += room;
            slow.room(now_ms);
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
    fn a_recipient_that_is_throttled_for_good_slows_nobody() {
        let mut pace = Pace::new(Some(1_000), 0);
        for minute in 0..60 {
            pace.throttled(60_000 * minute, MAX_THROTTLES_HEEDED);
        }
        pace.taken();
        pace.throttled(3_600_000, 1);
        // So do many of them among those that are taken.
        let mut second = 0;
        for _ in 0..1_000 {
            (0..MIN_TAKEN_BETWEEN).for_each(|_| pace.taken());
            second += 1;
            pace.throttled(4_000_000 + 1_000 * second, 0);
        }
        assert_eq!(pace.rate, Some(1_000_000));
        // Where few are taken in between it is the carrier that is too slow.
        pace.taken();
        pace.throttled(6_000_000, 0);
        assert_eq!(pace.rate, Some(500_000));
        pace.throttled(6_001_000, 1);
        assert_eq!(pace.rate, Some(250_000));
    }
}
