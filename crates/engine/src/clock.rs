//! The time, as an argument: only this file asks the system for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// What time it is.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Manual(Arc<AtomicI64>),
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

    /// Sets a manual clock; the system's is not ours to set.
    pub fn set(&self, now_ms: i64) {
        if let Source::Manual(time) = &self.0 {
            time.store(now_ms, Ordering::Relaxed);
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
        }
    }
}
