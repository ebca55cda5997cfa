//! `[console]`: the web console.

use super::gateway::millis;
use super::section::Section;
use domain::user::session::SessionLimits;
use std::ops::RangeInclusive;
use std::time::Duration;

const IDLE: RangeInclusive<Duration> = Duration::from_mins(5)..=Duration::from_hours(30 * 24);
const LIFETIME: RangeInclusive<Duration> = Duration::from_mins(5)..=Duration::from_hours(90 * 24);

/// `[console]`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Console {
    /// `true` if the pages are served.
    pub enabled: bool,
    /// The limits of sessions.
    pub sessions: SessionLimits,
}

pub(super) fn read(mut section: Section<'_>) -> Console {
    let enabled = section.require("enabled").unwrap_or_default();
    let idle_place = section.place_of("session_idle");
    let idle = section.time("session_idle", IDLE).unwrap_or_default();
    let lifetime = section
        .time("session_lifetime", LIFETIME)
        .unwrap_or_default();
    if idle > lifetime {
        let text = "must not be longer than `session_lifetime`";
        section.fault_at(&idle_place, "session_idle", text);
    }
    section.finish();
    Console {
        enabled,
        sessions: SessionLimits {
            idle_ms: millis(idle),
            lifetime_ms: millis(lifetime),
        },
    }
}
