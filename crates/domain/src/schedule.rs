//! The schedule of a message: due time, validity, pause, resume and cancellation.
//!
//! ```text
//!                    reschedule
//!                    ┌──────┐
//! accepted ──▶ scheduled ───┴──▶ sending ──▶ completed
//!                 │   ▲            │  ▲
//!           pause ▼   │ resume     ▼  │
//!                 └─ paused ◀──────┘──┘      cancel, from all but the ends ──▶ cancelled, or completed
//! ```

mod change;
mod clock;
mod state;

pub use change::{Change, Effect, change};
pub use clock::{Clock, Resumed};
pub use state::{MessageState, Progress};

use crate::gateway::QuietHours;
use crate::refusal::Refusal;
use crate::time::{FORMS, parse_time};

/// Longest time in advance for which a message can be scheduled, milliseconds: 90 days.
pub const MAX_AHEAD_MS: i64 = 90 * 24 * 3_600_000;
/// Longest time in the past that counts as now, milliseconds.
pub const MAX_PAST_MS: i64 = 60_000;
/// Shortest validity, seconds.
pub const MIN_VALIDITY_S: i64 = 60;
/// Longest validity, seconds: 48 hours.
pub const MAX_VALIDITY_S: i64 = 172_800;

/// Parses `send_at` to Unix milliseconds. It does not depend on the clock, so that a repeated
/// request has the same fingerprint.
pub fn parse_send_at(text: Option<&str>) -> Result<Option<i64>, Refusal> {
    let given = text.filter(|text| !text.trim().is_empty());
    let at_ms = given.map(parse_time).transpose();
    at_ms.map_err(|_| send_at_refused("is not a time"))
}

/// Parses the `send_at` of a reschedule, which must have one.
pub fn parse_new_send_at(text: Option<&str>) -> Result<i64, Refusal> {
    parse_send_at(text)?.ok_or_else(|| send_at_refused("is missing"))
}

/// Checks a `send_at` against the clock. Returns `None` if it means now, which includes up to a
/// minute in the past.
pub fn check_send_at(at_ms: i64, now_ms: i64) -> Result<Option<i64>, Refusal> {
    if at_ms < now_ms - MAX_PAST_MS {
        return Err(send_at_refused("is in the past"));
    }
    if at_ms > now_ms + MAX_AHEAD_MS {
        return Err(send_at_refused("is more than 90 days ahead"));
    }
    Ok((at_ms > now_ms).then_some(at_ms))
}

fn send_at_refused(fault: &str) -> Refusal {
    Refusal::Malformed(format!(
        "`send_at` {fault}. Give a time from now to 90 days ahead, as {FORMS}."
    ))
}

/// Parses `validity` in seconds, counted from the due time.
pub fn parse_validity(text: Option<&str>) -> Result<Option<i64>, Refusal> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: Option<i64> = text.parse().ok().filter(|_| is_number);
    seconds
        .filter(|seconds| (MIN_VALIDITY_S..=MAX_VALIDITY_S).contains(seconds))
        .map(Some)
        .ok_or_else(|| {
            Refusal::Malformed(format!(
                "`validity` must be a whole number of seconds, from {MIN_VALIDITY_S} to {MAX_VALIDITY_S}."
            ))
        })
}

/// The times of a send as they were written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SendTimes {
    /// `send_at`, Unix milliseconds.
    pub send_at_ms: Option<i64>,
    /// `validity`, seconds.
    pub validity_s: Option<i64>,
}

impl SendTimes {
    /// Parses the fields `send_at` and `validity`.
    pub fn parse(send_at: Option<&str>, validity: Option<&str>) -> Result<Self, Refusal> {
        Ok(Self {
            send_at_ms: parse_send_at(send_at)?,
            validity_s: parse_validity(validity)?,
        })
    }
}

/// Returns the validity of a message in milliseconds: the smaller one of its own and the gateway's.
pub fn validity_ms(own_s: Option<i64>, of_gateway_ms: i64) -> i64 {
    let wished = own_s.map_or(i64::MAX, |seconds| seconds.saturating_mul(1_000));
    wished.min(of_gateway_ms)
}

/// The due time of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Due {
    /// The due time, Unix milliseconds.
    pub at_ms: i64,
    /// The value of `scheduled_for`, or `None` if the message is due at once.
    pub scheduled_for_ms: Option<i64>,
}

/// Returns the due time of a message accepted now: at once, at its `send_at`, or at the end of the
/// gateway's quiet hours.
pub fn due(now_ms: i64, send_at_ms: Option<i64>, quiet: Option<QuietHours>) -> Due {
    let wished_ms = send_at_ms.map_or(now_ms, |at_ms| at_ms.max(now_ms));
    let at_ms = quiet.map_or(wished_ms, |quiet| quiet.due(wished_ms));
    Due {
        at_ms,
        scheduled_for_ms: (at_ms > now_ms).then_some(at_ms),
    }
}

/// Returns the value of `scheduled_for` of an accepted message. Pauses that moved its due time do
/// not count.
pub fn scheduled_for(
    due_at_ms: Option<i64>,
    paused_for_ms: i64,
    accepted_at_ms: i64,
) -> Option<i64> {
    let at_ms = due_at_ms? - paused_for_ms;
    (at_ms > accepted_at_ms).then_some(at_ms)
}

#[cfg(test)]
mod tests;
