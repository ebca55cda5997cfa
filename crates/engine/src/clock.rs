//! The time, as an argument: only this file asks the system for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::time::Instant;

/// What time it is.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
    /// Unix milliseconds at an instant of the runtime's timer.
    Timer(Arc<AtomicI64>, Instant),
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Source::System)
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

    /// Sets a clock that is not the system's, which is not ours to set.
    pub fn set(&self, now_ms: i64) {
        match &self.0 {
            Source::System => {}
            Source::Manual(time) => time.store(now_ms, Ordering::Relaxed),
            Source::Timer(time, since) => time.store(now_ms - passed_ms(*since), Ordering::Relaxed),
        }
    }

    /// Unix milliseconds.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place where time is asked for"
    )]
    pub fn now_ms(&self) -> i64 {
        match &self.0 {
            Source::System => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                since.map_or(0, |time| {
                    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
                })
            }
            Source::Manual(time) => time.load(Ordering::Relaxed),
            Source::Timer(time, since) => time.load(Ordering::Relaxed) + passed_ms(*since),
        }
    }
}

fn passed_ms(since: Instant) -> i64 {
    i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX)
}
