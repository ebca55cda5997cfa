//! The section `[velocity]`: the maximum of messages to one number, and to one block of numbers.

use super::gateway::millis;
use super::section::Section;
use domain::velocity::VelocityLimits;
use std::ops::RangeInclusive;
use std::time::Duration;

const MOST: u32 = 1_000_000_000;
const PAUSE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(365 * 24);

pub(super) fn read(mut section: Section<'_>) -> VelocityLimits {
    let mut limit = |key| {
        section
            .has(key)
            .then(|| section.within(key, 1..=MOST))
            .flatten()
    };
    let (per_recipient, per_block) = (limit("per_recipient_per_hour"), limit("per_block_per_hour"));
    let pause = section.time("pause", PAUSE).unwrap_or_default();
    section.finish();
    VelocityLimits {
        per_recipient,
        per_block,
        pause_ms: millis(pause),
    }
}
