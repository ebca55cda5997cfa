//! The clock, passed as an argument. Only this file reads the time of the system.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::time::Instant;

/// A clock. A clone shares its state.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    /// The system clock plus an offset in milliseconds, for tests.
    Shifted(Arc<AtomicI64>),
    Manual(Arc<AtomicI64>),
    /// Unix milliseconds at an instant of the runtime's timer.
    Timer(Arc<AtomicI64>, Instant),
    /// The clock of another machine: our steady clock plus an offset, plus a shift for tests.
    Following {
        offset: Arc<AtomicI64>,
        shift: Arc<AtomicI64>,
    },
}

/// Longest time between two reads that count as simultaneous, milliseconds.
const MAX_READ_GAP_MS: i64 = 50;

impl Clock {
    /// Returns the system clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// Returns a running clock that tests can set.
    pub fn running() -> Self {
        Self(Source::Shifted(Arc::default()))
    }

    /// Returns a stopped clock at `now_ms` that tests can set.
    pub fn manual(now_ms: i64) -> Self {
        Self(Source::Manual(Arc::new(AtomicI64::new(now_ms))))
    }

    /// Returns a clock that follows the timer of the runtime. With a paused timer, time passes only
    /// while all tasks wait.
    pub fn timer(now_ms: i64) -> Self {
        Self(Source::Timer(
            Arc::new(AtomicI64::new(now_ms)),
            Instant::now(),
        ))
    }

    /// Makes this clock follow the clock of another machine. It runs by our steady clock, so
    /// setting the system clock has no effect. It starts with the system time. A test clock is
    /// returned unchanged, since it is shared by all nodes.
    #[must_use]
    pub(crate) fn following(self) -> Self {
        let shift = match self.0 {
            Source::System => Arc::default(),
            Source::Shifted(shift) => shift,
            _ => return self,
        };
        let offset = Arc::new(AtomicI64::new(system_ms() - steady_ms()));
        Self(Source::Following { offset, shift })
    }

    /// Adjusts a following clock: the other one showed `theirs_ms` between `asked_ms` and
    /// `answered_ms` of our steady clock. The offset changes only as far as that range requires, so
    /// a slow answer does no harm.
    pub(crate) fn adjust(&self, theirs_ms: i64, asked_ms: i64, answered_ms: i64) {
        if let Source::Following { offset, .. } = &self.0 {
            let known = offset.load(Ordering::Relaxed);
            let (least, most) = (theirs_ms - answered_ms, theirs_ms - asked_ms);
            offset.store(known.clamp(least, most.max(least)), Ordering::Relaxed);
        }
    }

    /// Sets a test clock. The system clock is not changed.
    pub fn set(&self, now_ms: i64) {
        match &self.0 {
            Source::System => {}
            Source::Shifted(shift) => shift.store(now_ms - system_ms(), Ordering::Relaxed),
            Source::Following { offset, shift } => {
                let led_ms = steady_ms() + offset.load(Ordering::Relaxed);
                shift.store(now_ms - led_ms, Ordering::Relaxed);
            }
            Source::Manual(time) => time.store(now_ms, Ordering::Relaxed),
            Source::Timer(time, since) => time.store(now_ms - passed_ms(*since), Ordering::Relaxed),
        }
    }

    /// Returns the wall clock in Unix milliseconds. It may jump forwards or back.
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System => system_ms(),
            Source::Shifted(shift) => system_ms() + shift.load(Ordering::Relaxed),
            Source::Manual(time) => time.load(Ordering::Relaxed),
            Source::Timer(time, since) => time.load(Ordering::Relaxed) + passed_ms(*since),
            Source::Following { offset, shift } => {
                steady_ms() + offset.load(Ordering::Relaxed) + shift.load(Ordering::Relaxed)
            }
        }
    }

    /// Returns milliseconds since the start of the process. It never jumps, so durations are
    /// measured with it.
    pub fn steady_ms(&self) -> i64 {
        match &self.0 {
            Source::System | Source::Shifted(_) | Source::Following { .. } => steady_ms(),
            Source::Manual(time) => time.load(Ordering::Relaxed),
            Source::Timer(_, since) => passed_ms(*since),
        }
    }

    /// Returns wall clock and steady clock of one moment. The reads are repeated if the thread was
    /// paused between them.
    pub(crate) fn both_ms(&self) -> (i64, i64) {
        loop {
            let (steady_ms, now_ms) = (self.steady_ms(), self.now_ms());
            if self.steady_ms() - steady_ms <= MAX_READ_GAP_MS {
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

/// Detects that the wall clock was set: it advanced by another amount than the steady clock.
#[derive(Debug)]
pub(crate) struct StepDetector {
    now_ms: i64,
    steady_ms: i64,
}

/// Largest difference between two observations that counts as drift, milliseconds.
const DRIFT_MS: i64 = 500;

impl StepDetector {
    pub(crate) fn new(clock: &Clock) -> Self {
        let (now_ms, steady_ms) = clock.both_ms();
        Self { now_ms, steady_ms }
    }

    /// Returns by how many milliseconds the clock was set since the last observation, negative if
    /// set back. Each observation is compared with the previous one, so slow drift is ignored.
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
    fn a_clock_step_is_detected_and_drift_is_not() {
        let mut detector = StepDetector {
            now_ms: 1_000_000,
            steady_ms: 0,
        };
        let observations = [
            (1_001_000, 1_000, 0),
            (1_001_900, 2_000, 0),
            (1_002_800, 3_000, 0),
            (8_202_800, 3_000, 7_200_000),
            (8_203_800, 4_000, 0),
            (1_003_800, 4_000, -7_200_000),
            (61_003_800, 60_004_000, 0),
        ];
        for (now_ms, steady_ms, set_by) in observations {
            assert_eq!(detector.set_by_ms(now_ms, steady_ms), set_by, "{now_ms}");
        }
    }

    #[test]
    fn a_following_clock_shows_the_time_of_the_other() {
        let clock = Clock::system().following();
        for (theirs_ms, asked_ms, answered_ms, offset_ms) in [
            (500_000, 1_000, 1_000, 499_000),
            // The offset may be anything from 491,000 on, so it is kept.
            (600_000, 101_000, 109_000, 499_000),
            (602_000, 103_500, 103_510, 498_500),
            (8_000_000, 104_000, 104_002, 7_895_998),
        ] {
            clock.adjust(theirs_ms, asked_ms, answered_ms);
            let (now_ms, steady_ms) = clock.both_ms();
            assert!(
                (now_ms - steady_ms - offset_ms).abs() <= MAX_READ_GAP_MS,
                "{offset_ms}"
            );
        }
    }

    #[test]
    fn setting_a_clock_leaves_its_steady_time() {
        let clock = Clock::running();
        let steady = clock.steady_ms();
        clock.set(1_000_000);
        assert!((1_000_000..1_060_000).contains(&clock.now_ms()));
        assert!((steady..steady + 60_000).contains(&clock.steady_ms()));
    }
}
