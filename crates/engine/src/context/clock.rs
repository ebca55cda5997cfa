//! The time, as an argument: only this file asks the system for it.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::time::Instant;

/// The time.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    /// The system's, so many milliseconds on.
    Shifted(Arc<AtomicI64>),
    Manual(Arc<AtomicI64>),
    /// Unix milliseconds at an instant of the runtime's timer.
    Timer(Arc<AtomicI64>, Instant),
    /// Another machine's: that is so many milliseconds ahead of our steady time. Shifted for tests.
    Led {
        ahead: Arc<AtomicI64>,
        shift: Arc<AtomicI64>,
    },
}

/// The time that may lie between the two times of one look, milliseconds.
const LOOK_MS: i64 = 50;

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that runs as the system's does and may be set to another time: for tests.
    pub fn running() -> Self {
        Self(Source::Shifted(Arc::default()))
    }

    /// A clock that stands at this time (Unix milliseconds) until it is set: for tests.
    pub fn manual(now_ms: i64) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(now_ms))))
    }

    /// A clock that goes with the timer of the runtime, from this time (Unix milliseconds): where that one is
    /// paused, time passes only while everybody waits.
    pub fn timer(now_ms: i64) -> Self {
        Self(Source::Timer(
            Arc::new(AtomicI64::new(now_ms)),
            Instant::now(),
        ))
    }

    /// This clock, to be led by another machine's: it goes by our steady time, so that setting our own does nothing
    /// to it. Until it is led it tells what the system's tells now. A clock of tests is the time of all machines.
    #[must_use]
    pub(crate) fn led(self) -> Self {
        let shift = match self.0 {
            Source::System => Arc::default(),
            Source::Shifted(shift) => shift,
            _ => return self,
        };
        let ahead = Arc::new(AtomicI64::new(system_ms() - steady_ms()));
        Self(Source::Led { ahead, shift })
    }

    /// The other machine's clock told `theirs_ms` at some moment between those two of our steady time. The estimate
    /// is mended by as little as that demands, so an answer that took long does no harm.
    pub(crate) fn lead(&self, theirs_ms: i64, asked_ms: i64, told_ms: i64) {
        if let Source::Led { ahead, .. } = &self.0 {
            let known = ahead.load(Ordering::Relaxed);
            let (least, most) = (theirs_ms - told_ms, theirs_ms - asked_ms);
            ahead.store(known.clamp(least, most.max(least)), Ordering::Relaxed);
        }
    }

    /// Sets a clock that is not the system's, which is not ours to set.
    pub fn set(&self, now_ms: i64) {
        match &self.0 {
            Source::System => {}
            Source::Shifted(shift) => shift.store(now_ms - system_ms(), Ordering::Relaxed),
            Source::Led { ahead, shift } => {
                let led_ms = steady_ms() + ahead.load(Ordering::Relaxed);
                shift.store(now_ms - led_ms, Ordering::Relaxed);
            }
            Source::Manual(time) => time.store(now_ms, Ordering::Relaxed),
            Source::Timer(time, since) => time.store(now_ms - passed_ms(*since), Ordering::Relaxed),
        }
    }

    /// Unix milliseconds. A caller that keeps the machine, or the one that leads, may set them forwards or back.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System => system_ms(),
            Source::Shifted(shift) => system_ms() + shift.load(Ordering::Relaxed),
            Source::Manual(time) => time.load(Ordering::Relaxed),
            Source::Timer(time, since) => time.load(Ordering::Relaxed) + passed_ms(*since),
            Source::Led { ahead, shift } => {
                steady_ms() + ahead.load(Ordering::Relaxed) + shift.load(Ordering::Relaxed)
            }
        }
    }

    /// Milliseconds since some moment of this process, that nobody can set: for how long something takes.
    pub fn steady_ms(&self) -> i64 {
        match &self.0 {
            Source::System | Source::Shifted(_) | Source::Led { .. } => steady_ms(),
            Source::Manual(time) => time.load(Ordering::Relaxed),
            Source::Timer(_, since) => passed_ms(*since),
        }
    }

    /// The times that [`Clock::now_ms`] and [`Clock::steady_ms`] tell at one moment: whoever was held up between the two asks
    /// again.
    pub(crate) fn both_ms(&self) -> (i64, i64) {
        loop {
            let (steady_ms, now_ms) = (self.steady_ms(), self.now_ms());
            if self.steady_ms() - steady_ms <= LOOK_MS {
                return (now_ms, steady_ms);
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where time is asked for"
)]
fn system_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |time| {
        i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
    })
}

fn steady_ms() -> i64 {
    static BEGAN: OnceLock<std::time::Instant> = OnceLock::new();
    let passed = BEGAN.get_or_init(std::time::Instant::now).elapsed();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

fn passed_ms(since: Instant) -> i64 {
    i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)
}

/// Notices when the clock is set: it has not gone on by as much as time has passed.
#[derive(Debug)]
pub(crate) struct Watch {
    now_ms: i64,
    steady_ms: i64,
}

/// The drift of a clock that follows the time of others between two looks, milliseconds.
const DRIFT_MS: i64 = 500;

impl Watch {
    pub(crate) fn new(clock: &Clock) -> Self {
        let (now_ms, steady_ms) = clock.both_ms();
        Self { now_ms, steady_ms }
    }

    /// By how many milliseconds the clock was set since the last look; negative when it was set back. As
    /// every look is compared with the one before, a clock that drifts was not set.
    pub(crate) fn set_by_ms(&mut self, now_ms: i64, steady_ms: i64) -> i64 {
        let set_by = (now_ms - self.now_ms) - (steady_ms - self.steady_ms);
        *self = Self { now_ms, steady_ms };
        if set_by.abs() > DRIFT_MS { set_by } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_is_noticed_and_one_that_drifts_is_not() {
        let mut watch = Watch {
            now_ms: 1_000_000,
            steady_ms: 0,
        };
        let looks = [
            (1_001_000, 1_000, 0),
            (1_001_900, 2_000, 0),
            (1_002_800, 3_000, 0),
            (8_202_800, 3_000, 7_200_000),
            (8_203_800, 4_000, 0),
            (1_003_800, 4_000, -7_200_000),
            (61_003_800, 60_004_000, 0),
        ];
        for (now_ms, steady_ms, set_by) in looks {
            assert_eq!(watch.set_by_ms(now_ms, steady_ms), set_by, "{now_ms}");
        }
    }

    #[test]
    fn a_led_clock_shows_the_time_of_the_other() {
        let clock = Clock::system().led();
        for (theirs_ms, asked_ms, told_ms, ahead_ms) in [
            (500_000, 1_000, 1_000, 499_000),
            // Anything from 491,000 on: what is known may be right.
            (600_000, 101_000, 109_000, 499_000),
            (602_000, 103_500, 103_510, 498_500),
            (8_000_000, 104_000, 104_002, 7_895_998),
        ] {
            clock.lead(theirs_ms, asked_ms, told_ms);
            let (now_ms, steady_ms) = clock.both_ms();
            assert!(
                (now_ms - steady_ms - ahead_ms).abs() <= LOOK_MS,
                "{ahead_ms}"
            );
        }
    }

    #[test]
    fn a_clock_that_is_set_leaves_its_steady_time_alone() {
        let clock = Clock::running();
        let steady = clock.steady_ms();
        clock.set(1_000_000);
        assert!((1_000_000..1_060_000).contains(&clock.now_ms()));
        assert!((steady..steady + 60_000).contains(&clock.steady_ms()));
    }
}
