//! Time as a field of a message: when it is due, how long it is valid, and how it is held, resumed and cancelled.
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

/// Milliseconds of the longest time ahead for which a message is scheduled: 90 days.
pub const MAX_AHEAD_MS: i64 = 90 * 24 * 3_600_000;
/// Milliseconds in the past that still mean now.
pub const MAX_PAST_MS: i64 = 60_000;
/// The shortest validity, seconds.
pub const MIN_VALIDITY_S: i64 = 60;
/// The longest validity, seconds: 48 hours.
pub const MAX_VALIDITY_S: i64 = 172_800;

/// Reads `send_at` and returns Unix milliseconds. The clock plays no part, so that a request that is repeated later is
/// still the same one.
pub fn parse_send_at(text: Option<&str>) -> Result<Option<i64>, Refusal> {
    let given = text.filter(|text| !text.trim().is_empty());
    let at_ms = given.map(parse_time).transpose();
    at_ms.map_err(|_| send_at_refused("is not a time"))
}

/// Judges a `send_at` by the clock; `None` means now, which is also the meaning of up to a minute in the past.
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

/// Reads `validity`, in seconds from the moment a message is due.
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

/// The validity of a message in milliseconds: the smaller of its own, in seconds, and the gateway's.
pub fn validity_ms(own_s: Option<i64>, of_gateway_ms: i64) -> i64 {
    let wished = own_s.map_or(i64::MAX, |seconds| seconds.saturating_mul(1_000));
    wished.min(of_gateway_ms)
}

/// When a message is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Due {
    /// The moment, Unix milliseconds.
    pub at_ms: i64,
    /// The same, for `scheduled_for`; `None` for a message that is due at once.
    pub scheduled_for_ms: Option<i64>,
}

/// The moment at which a message is due that was accepted now: at once, at its `send_at`, or at the end of the
/// gateway's quiet hours.
pub fn due(now_ms: i64, send_at_ms: Option<i64>, quiet: Option<QuietHours>) -> Due {
    let wished_ms = send_at_ms.map_or(now_ms, |at_ms| at_ms.max(now_ms));
    let at_ms = quiet.map_or(wished_ms, |quiet| quiet.due(wished_ms));
    Due {
        at_ms,
        scheduled_for_ms: (at_ms > now_ms).then_some(at_ms),
    }
}

#[cfg(test)]
mod tests;
