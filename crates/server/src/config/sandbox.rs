//! `[sandbox]`: limits of an account in the sandbox, and retention of its messages.

use super::gateway::millis;
use super::section::Section;
use engine::SandboxLimits;
use std::ops::RangeInclusive;
use std::time::Duration;

const MOST: u32 = 1_000_000_000;
/// Allowed retention. It is long enough to read a report, and short because nobody pays for the
/// room.
const KEPT: RangeInclusive<Duration> = Duration::from_hours(1)..=Duration::from_hours(8 * 24);

/// Reads the limits, and the retention of messages in milliseconds.
pub(super) fn read(mut section: Section<'_>) -> (SandboxLimits, i64) {
    let mut count = |key| section.within(key, 1..=MOST).unwrap_or_default();
    let limits = SandboxLimits {
        recipients_per_minute: count("recipients_per_minute"),
        callbacks_per_minute: count("callbacks_per_minute"),
    };
    let kept = section.time("keep", KEPT).unwrap_or_default();
    section.finish();
    (limits, millis(kept))
}
