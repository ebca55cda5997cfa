//! Clock steps move open duplicate windows, so that they keep their length.

use crate::context::clock::Clock;
use crate::context::clock::StepDetector;

/// The state of the detection of clock steps.
pub(crate) struct ClockFollower {
    pub(crate) detector: StepDetector,
    /// Milliseconds by which open windows must still be moved.
    pub(crate) unapplied_ms: i64,
}

impl ClockFollower {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self {
            detector: StepDetector::new(clock),
            unapplied_ms: 0,
        }
    }
}
