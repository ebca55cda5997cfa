//! The slots of a window: its measures of time.

use crate::refusal::seconds;

/// How long a request counts.
pub(super) const WINDOW_MS: i64 = 60_000;
/// The window is counted in slots: a request counts until the slot in which it came is wholly past, so no
/// 60 seconds ever see more than the limit, and room comes back at most one slot late.
pub(super) const SLOTS: i64 = 240;
/// The length of a slot.
pub(super) const SLOT_MS: i64 = WINDOW_MS / SLOTS;
/// The longest that a request counts: it came at the beginning of its slot.
pub(super) const MAX_WAIT_MS: i64 = WINDOW_MS + SLOT_MS;

/// Seconds until this time, when the oldest counted slot is past; at least one.
pub(super) fn reset_s(reset_ms: i64, now_ms: i64) -> u64 {
    let left_ms = (reset_ms - now_ms).clamp(0, MAX_WAIT_MS);
    seconds(left_ms).max(1)
}
