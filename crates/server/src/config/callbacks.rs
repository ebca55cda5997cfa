//! `[callbacks]`: targets, retries and concurrency of callbacks.

use super::carrier::as_usize;
use super::section::Section;
use super::value::Time;
use engine::CallbackSettings;
use std::ops::RangeInclusive;
use std::time::Duration;

const MAX_CONCURRENT: u32 = 100_000;
const MAX_RETRIES: usize = 100;
const RETRY_DELAYS: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_hours(7 * 24);

/// Reads the section.
pub(super) fn read(mut section: Section<'_>) -> CallbackSettings {
    let place = section.place_of("retry_delays");
    let retry_delays: Vec<Duration> = section.require("retry_delays").unwrap_or_default();
    if retry_delays.len() > MAX_RETRIES {
        let text = format!(
            "has {} delays; at most {MAX_RETRIES} are allowed",
            retry_delays.len()
        );
        section.fault_at(&place, "retry_delays", text);
    }
    if let Some(&delay) = retry_delays.iter().find(|one| !RETRY_DELAYS.contains(*one)) {
        let [least, most] = [*RETRY_DELAYS.start(), *RETRY_DELAYS.end()].map(Time);
        let text = format!(
            "a delay must be from {least} to {most}, not {}",
            Time(delay)
        );
        section.fault_at(&place, "retry_delays", text);
    }
    let mut count = |key| as_usize(section.within(key, 1..=MAX_CONCURRENT).unwrap_or_default());
    let callbacks = CallbackSettings {
        retry_delays,
        concurrency: count("concurrency"),
        concurrency_per_origin: count("concurrency_per_origin"),
        allow_private_targets: section.get("allow_private_targets").unwrap_or_default(),
    };
    section.finish();
    callbacks
}
