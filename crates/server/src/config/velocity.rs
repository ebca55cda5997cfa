//! `[velocity]`: how much may go to one number, and to one block of numbers.

use super::gateway::millis;
use super::section::Section;
use domain::velocity::Limits;
use std::time::Duration;

const MOST: u32 = 1_000_000_000;

pub(super) fn read(mut section: Section<'_>) -> Limits {
    let mut limit = |key| {
        section
            .has(key)
            .then(|| section.within(key, 1..=MOST))
            .flatten()
    };
    let (per_recipient, per_block) = (limit("per_recipient_per_hour"), limit("per_block_per_hour"));
    let place = section.place_of("pause");
    let pause: Duration = section.require("pause").unwrap_or_default();
    if pause.is_zero() {
        section.fault_at(&place, "pause", "must be longer than nothing");
    }
    section.finish();
    Limits {
        per_recipient,
        per_block,
        pause_ms: millis(pause),
    }
}
