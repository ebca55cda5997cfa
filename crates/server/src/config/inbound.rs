//! The section `[inbound]`: messages that subscribers send.

use super::gateway::millis;
use super::section::Section;
use engine::InboundSettings;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Allowed time-outs. Carriers deliver the pages of a message within seconds, or after an outage.
const JOIN_TIMEOUTS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);

/// Reads the section.
pub(super) fn read(mut section: Section<'_>) -> InboundSettings {
    let join_timeout = section.time("join_timeout", JOIN_TIMEOUTS);
    section.finish();
    InboundSettings {
        join_timeout_ms: join_timeout.map_or(0, millis),
    }
}
