//! A clock that is set takes the duplicate windows along that are open, so that they last as long as they should.

use crate::context::clock::Clock;
use crate::context::clock::Watch;

/// Who has watched the clock so far.
pub(crate) struct Follower {
    pub(crate) watch: Watch,
    /// By how much the windows are to be moved yet, milliseconds.
    pub(crate) owed_ms: i64,
}

impl Follower {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self {
            watch: Watch::new(clock),
            owed_ms: 0,
        }
    }
}
