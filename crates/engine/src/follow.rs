//! A clock that is set takes the duplicate windows along that are open, so that they last as long as they should.

use crate::clock::Watch;
use crate::{Clock, Shared};

/// Who has watched the clock so far.
pub(crate) struct Follower {
    watch: Watch,
    /// By how much the windows are to be moved yet, milliseconds.
    owed_ms: i64,
}

impl Follower {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self {
            watch: Watch::new(clock),
            owed_ms: 0,
        }
    }
}

impl Shared {
    /// Unix milliseconds, by which windows may be armed and forgotten now. Nodes go by the clock of their server; where
    /// that is set, none of them moves what all have armed.
    pub(crate) async fn followed_ms(&self) -> store::Result<i64> {
        let mut follower = self.follower.lock().await;
        let (now_ms, steady_ms) = self.clock.both_ms();
        let set_by_ms = follower.watch.set_by_ms(now_ms, steady_ms);
        if set_by_ms != 0 {
            tracing::warn!(set_by_ms, "the clock was set");
            follower.owed_ms += set_by_ms;
        }
        if follower.owed_ms != 0 && !self.store.is_shared() {
            self.store.follow_clock(now_ms, follower.owed_ms).await?;
        }
        follower.owed_ms = 0;
        Ok(now_ms)
    }
}
