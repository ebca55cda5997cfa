//! The time, until the engine has its clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// What time it is.
#[derive(Clone, Debug)]
pub struct Clock(Arc<AtomicI64>);

impl Clock {
    /// A clock that stands at this time, Unix milliseconds.
    pub fn manual(now_ms: i64) -> Self {
        Self(Arc::new(AtomicI64::new(now_ms)))
    }

    /// Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
