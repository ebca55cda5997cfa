//! The permits of one node from a window that several nodes share.
//!
//! A permit counts from its reservation, and may be used for a short time after it. While a node
//! holds a permit, no other node can use it. Each node also allows a few requests per minute
//! without a permit ([`Uncounted`]), so that rare requests need no reservation. The held permits
//! are at most one part in [`HELD`] of the limit, and the uncounted requests at most one part in
//! [`UNCOUNTED`]. So the error of all nodes together is at most 5 % of the limit.

use super::reservation::{Rate, Reservation, Reserved};
use super::slots::{MAX_WAIT_MS, SLOT_MS, reset_s};
use super::uncounted::Uncounted;

/// Lifetime of a permit after its reservation.
const VALID_MS: i64 = 1_000;
/// Age of the last reservation at which its unused permits are returned, milliseconds.
pub const IDLE_MS: i64 = 1_500;
/// Time after a refusal by the window during which the node refuses requests itself. Only returned
/// permits could free capacity during this time.
const FULL_MS: i64 = SLOT_MS;
/// All nodes together hold at most one part in this number of the limit.
const HELD: u32 = 30;
/// The uncounted requests of all nodes are at most one part in this number of the limit.
const UNCOUNTED: u32 = 60;

/// The permits of a node for one key.
#[derive(Clone, Debug, Default)]
pub struct Permits {
    /// The time and result of the last reservation, without the returned permits.
    last: Option<(i64, Reserved)>,
    /// The number of unused permits.
    unused: u32,
    uncounted: Uncounted,
}

impl Permits {
    /// Decides on a request from local state. `nodes` nodes share the limit. Returns `None` if the
    /// decision needs a reservation.
    pub fn answer(&mut self, limit: u32, nodes: usize, now_ms: i64) -> Option<Rate> {
        let mut remaining = limit;
        if let Some((made_ms, last)) = self.last {
            // After the clock was set back, permits do not live longer.
            let age_ms = (now_ms - made_ms).abs();
            if self.unused > 0 && age_ms < VALID_MS {
                self.unused -= 1;
                let remaining = last.remaining + self.unused;
                return Some(Rate::allowed(limit, remaining));
            }
            if last.remaining == 0 && age_ms < FULL_MS && now_ms < last.reset_ms {
                return Some(Rate::refused(limit, reset_s(last.reset_ms, now_ms)));
            }
            if age_ms < MAX_WAIT_MS {
                remaining = last.remaining;
            }
        }
        self.answer_uncounted(limit, nodes, remaining, now_ms)
    }

    /// Allows a request without a permit, if more than half of the limit was free at the last
    /// reservation. Otherwise returns `None`.
    fn answer_uncounted(
        &mut self,
        limit: u32,
        nodes: usize,
        remaining: u32,
        now_ms: i64,
    ) -> Option<Rate> {
        let uncounted = self.uncounted.total(now_ms);
        if remaining <= limit / 2 || uncounted >= part(limit, UNCOUNTED, nodes) {
            return None;
        }
        self.uncounted.add();
        Some(Rate::allowed(limit, remaining - uncounted - 1))
    }

    /// Returns the reservation for waiting requests. It contains further permits if the last ones
    /// were used up within a second, so that not every request needs a reservation.
    pub fn ask(&mut self, waiting: usize, limit: u32, nodes: usize, now_ms: i64) -> Reservation {
        let recent = self.last.filter(|_| !self.is_idle(now_ms));
        let ahead = recent.map_or(0, |(made_ms, last)| {
            let used = last.granted - self.unused;
            let is_used_up = self.unused == 0 && now_ms - made_ms < VALID_MS;
            used.saturating_mul(if is_used_up { 2 } else { 1 })
        });
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        Reservation {
            limit,
            wanted: waiting.max(ahead.min(part(limit, HELD, nodes))),
            uncounted: self.uncounted.total(now_ms),
            ..self.give_back(now_ms)
        }
    }

    /// Stores the result of a reservation made at `now_ms`, which included the uncounted requests.
    pub fn take(&mut self, reserved: Reserved, now_ms: i64) {
        self.last = Some((now_ms, reserved));
        self.unused = reserved.granted;
        self.uncounted = Uncounted::default();
    }

    /// Returns `true` if the last reservation is so old that its permits cannot be used.
    pub fn is_idle(&self, now_ms: i64) -> bool {
        self.is_older(IDLE_MS, now_ms)
    }

    /// Returns `true` if the value has no permit, decision or count that still matters.
    pub fn is_over(&mut self, now_ms: i64) -> bool {
        self.unused == 0 && self.is_older(MAX_WAIT_MS, now_ms) && self.uncounted.total(now_ms) == 0
    }

    fn is_older(&self, age_ms: i64, now_ms: i64) -> bool {
        self.last
            .is_none_or(|(made_ms, _)| (now_ms - made_ms).abs() >= age_ms)
    }

    /// Returns the number of unused permits.
    pub fn unused(&self) -> u32 {
        self.unused
    }

    /// Removes the unused permits. Returns a reservation that returns them to the window.
    pub fn give_back(&mut self, now_ms: i64) -> Reservation {
        let unused = std::mem::take(&mut self.unused);
        let counted_ms = self.last.map_or(now_ms, |(_, last)| last.counted_ms);
        if let Some((_, last)) = &mut self.last {
            last.granted -= unused;
            last.remaining = last.remaining.saturating_add(unused);
        }
        Reservation {
            unused,
            counted_ms,
            now_ms,
            ..Reservation::default()
        }
    }

    /// Records a failed reservation. The permits that it should have returned are lost. The result
    /// of the last reservation is kept.
    pub fn fail(&mut self) {
        self.unused = 0;
        if let Some((_, last)) = &mut self.last {
            last.granted = 0;
        }
    }
}

/// Returns the share of one node in one of `parts` parts of the limit.
fn part(limit: u32, parts: u32, nodes: usize) -> u32 {
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX).max(1);
    limit / parts.saturating_mul(nodes)
}
