//! The section `[retention]`: the age at which old data is removed.

use super::gateway::millis;
use super::section::Section;
use super::value::Time;
use domain::GatewayRules;
use engine::{CallbackSettings, Retention};
use std::ops::RangeInclusive;
use std::time::Duration;

const DAY: Duration = Duration::from_hours(24);
/// Maximum retention. An operator who keeps data for longer leaves the key out.
const MOST: Duration = Duration::from_hours(20 * 365 * 24);
/// Minimum retention of messages. Pages are matched with receipts for seven days.
const LEAST_MESSAGES: Duration = Duration::from_hours(8 * 24);
const LEAST_BODIES: Duration = Duration::from_hours(3 * 24);

/// Allowed retention of receipts. With zero none are kept.
const RECEIPTS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_hours(90 * 24);
/// Allowed retention of refused requests.
const REQUESTS: RangeInclusive<Duration> = Duration::from_hours(1)..=Duration::from_hours(90 * 24);

/// Reads the section. Data that the slowest gateway or the last retry of a callback needs is kept.
pub(super) fn read(
    mut section: Section<'_>,
    gateways: &[GatewayRules],
    callbacks: &CallbackSettings,
) -> Retention {
    let timeouts = gateways.iter().map(|rules| rules.receipt_timeout_ms);
    let timeout = Duration::from_millis(timeouts.max().unwrap_or(0).unsigned_abs());
    let settled = timeout.saturating_add(DAY);
    let retries = callbacks
        .retry_delays
        .iter()
        .fold(Duration::ZERO, |sum, &delay| sum.saturating_add(delay));
    let bodies_place = section.place_of("bodies");
    let messages = at_least(
        &mut section,
        "messages",
        settled.saturating_add(retries).max(LEAST_MESSAGES),
        "8d, or the longest `receipt_timeout` of a gateway with all `callbacks.retry_delays` and a day",
    );
    let bodies = at_least(
        &mut section,
        "bodies",
        settled.max(LEAST_BODIES),
        "3d, or the longest `receipt_timeout` of a gateway and a day",
    );
    if let (Some(messages), Some(bodies)) = (messages, bodies)
        && bodies > messages
    {
        let text = "must not be longer than `messages`: a text goes with its message";
        section.fault_at(&bodies_place, "bodies", text);
    }
    let receipts = section.time("receipts", RECEIPTS);
    let requests = section.time("requests", REQUESTS);
    section.finish();
    let default = Retention::default();
    Retention {
        messages_ms: messages.map(millis),
        bodies_ms: bodies.map(millis),
        receipts_ms: receipts.map_or(default.receipts_ms, millis),
        requests_ms: requests.map_or(default.requests_ms, millis),
        ..default
    }
}

fn at_least(
    section: &mut Section<'_>,
    key: &'static str,
    least: Duration,
    needed: &str,
) -> Option<Duration> {
    let place = section.place_of(key);
    let kept: Duration = section.get(key)?;
    if kept < least {
        let days = least.as_secs().div_ceil(DAY.as_secs());
        let text = format!("must be at least {days}d: {needed}, whichever is more");
        section.fault_at(&place, key, text);
    }
    if kept > MOST {
        let text = format!(
            "must be at most {}; leave it out to keep all for ever",
            Time(MOST)
        );
        section.fault_at(&place, key, text);
    }
    Some(kept)
}
