//! The slots of a window.

use crate::refusal::seconds;

/// The length of a window.
pub(super) const WINDOW_MS: i64 = 60_000;
/// Number of slots in a window. A request counts until its whole slot has expired, so no 60 seconds
/// exceed the limit, and capacity is freed at most one slot late.
pub(super) const SLOTS: i64 = 240;
/// The length of a slot.
pub(super) const SLOT_MS: i64 = WINDOW_MS / SLOTS;
/// The longest time that a request counts, if it came at the begin of its slot.
pub(super) const MAX_WAIT_MS: i64 = WINDOW_MS + SLOT_MS;

/// Returns the seconds until `reset_ms`, at least one.
pub(super) fn reset_s(reset_ms: i64, now_ms: i64) -> u64 {
    let left_ms = (reset_ms - now_ms).clamp(0, MAX_WAIT_MS);
    seconds(left_ms).max(1)
}
