//! What one of several nodes holds of a window that they share.
//!
//! A permit counts from when it was reserved, but may be used a little later, and while it is held nobody else
//! has it. So what all nodes hold is what they may be wrong by: one part in [`HELD`] of the limit.

use super::window::SLOT_MS;
use super::{Rate, Reservation, Reserved};

/// How long a permit may be used after it was reserved.
const VALID_MS: i64 = 1_000;
/// After how long what is left of a reservation is given back, when no other followed.
const IDLE_MS: i64 = 1_500;
/// How long a full window is not asked again: meanwhile only what others give back could make room.
const FULL_MS: i64 = SLOT_MS;
/// Of the limit, all nodes together hold at most one part in so many.
const HELD: u32 = 20;

/// The permits of a node for the requests of one key.
#[derive(Clone, Debug, Default)]
pub struct Permits {
    /// When the last reservation was made, and what it gave.
    last: Option<(i64, Reserved)>,
    /// How many of its permits are not used.
    unused: u32,
}

impl Permits {
    /// Answers a request from what is at hand; `None` when the window has to be asked.
    pub fn answer(&mut self, limit: u32, now_ms: i64) -> Option<Rate> {
        let (made_ms, last) = self.last?;
        // A clock that was set back makes nothing last longer.
        let age_ms = (now_ms - made_ms).abs();
        if self.unused > 0 && age_ms < VALID_MS {
            self.unused -= 1;
            let remaining = last.room + self.unused;
            return Some(Rate::allowed(limit, remaining));
        }
        let is_full = last.room == 0 && age_ms < FULL_MS && now_ms < last.reset_ms;
        is_full.then(|| Rate::refused(limit, last.reset_s(now_ms)))
    }

    /// What to ask for when so many requests wait and so many nodes share the limit: permits for those that wait,
    /// and some more while each second uses them up, which saves asking for each request.
    pub fn ask(&mut self, waiting: usize, limit: u32, nodes: usize, now_ms: i64) -> Reservation {
        let ahead = self.last.map_or(0, |(made_ms, last)| {
            let used = last.granted - self.unused;
            let is_used_up = self.unused == 0 && now_ms - made_ms < VALID_MS;
            used.saturating_mul(if is_used_up { 2 } else { 1 })
        });
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let most = limit / HELD.saturating_mul(number(nodes).max(1));
        Reservation {
            limit,
            wanted: number(waiting).max(ahead.min(most)),
            ..self.give_back(now_ms)
        }
    }

    /// Takes what a reservation made at `now_ms` gave.
    pub fn take(&mut self, reserved: Reserved, now_ms: i64) {
        self.last = Some((now_ms, reserved));
        self.unused = reserved.granted;
    }

    /// Whether the last reservation is so old that nothing here is of use.
    pub fn is_idle(&self, now_ms: i64) -> bool {
        self.last
            .is_none_or(|(made_ms, _)| (now_ms - made_ms).abs() >= IDLE_MS)
    }

    /// How many permits are not used.
    pub fn unused(&self) -> u32 {
        self.unused
    }

    /// A reservation that only gives back what is not used.
    pub fn give_back(&mut self, now_ms: i64) -> Reservation {
        Reservation {
            unused: std::mem::take(&mut self.unused),
            counted_ms: self.last.map_or(now_ms, |(_, last)| last.counted_ms),
            now_ms,
            ..Reservation::default()
        }
    }
}
