//! The knowledge of one node about a window that several nodes share, and its rights without asking it.
//!
//! A permit counts from when it was reserved, but may be used a little later, and while it is held nobody else
//! has it. And a few requests of each minute are let in [`Uncounted`], so that who sends now and then costs the
//! window nothing. All nodes together may be wrong by the permits that they hold and the requests that they let in so: one part in
//! [`HELD`] and one in [`UNCOUNTED`] of the limit, a twentieth together.

use super::reservation::{Rate, Reservation, Reserved};
use super::slots::{MAX_WAIT_MS, SLOT_MS, reset_s};
use super::uncounted::Uncounted;

/// How long a permit may be used after it was reserved.
const VALID_MS: i64 = 1_000;
/// After how long what is left of a reservation is given back, when no other followed, milliseconds.
pub const IDLE_MS: i64 = 1_500;
/// How long a full window is not asked again: meanwhile only what others give back could make room.
const FULL_MS: i64 = SLOT_MS;
/// All nodes together hold at most one part in so many of the limit.
const HELD: u32 = 30;
/// All nodes together let in at most one part in so many of the limit without the knowledge of the window.
const UNCOUNTED: u32 = 60;

/// The permits of a node for the requests of one key.
#[derive(Clone, Debug, Default)]
pub struct Permits {
    /// When the last reservation was made, and what it gave, less what went back.
    last: Option<(i64, Reserved)>,
    /// How many of its permits are not used.
    unused: u32,
    uncounted: Uncounted,
}

impl Permits {
    /// Answers a request from what is at hand, where so many nodes share the limit; `None` when the window has to be asked.
    pub fn answer(&mut self, limit: u32, nodes: usize, now_ms: i64) -> Option<Rate> {
        let mut room = limit;
        if let Some((made_ms, last)) = self.last {
            // A clock that was set back makes nothing last longer.
            let age_ms = (now_ms - made_ms).abs();
            if self.unused > 0 && age_ms < VALID_MS {
                self.unused -= 1;
                let remaining = last.room + self.unused;
                return Some(Rate::allowed(limit, remaining));
            }
            if last.room == 0 && age_ms < FULL_MS && now_ms < last.reset_ms {
                return Some(Rate::refused(limit, reset_s(last.reset_ms, now_ms)));
            }
            if age_ms < MAX_WAIT_MS {
                room = last.room;
            }
        }
        self.answer_uncounted(limit, nodes, room, now_ms)
    }

    /// Lets a request in that the window does not know of, while as far as is known most of the limit is left.
    fn answer_uncounted(
        &mut self,
        limit: u32,
        nodes: usize,
        room: u32,
        now_ms: i64,
    ) -> Option<Rate> {
        let uncounted = self.uncounted.total(now_ms);
        if room <= limit / 2 || uncounted >= part(limit, UNCOUNTED, nodes) {
            return None;
        }
        self.uncounted.add();
        Some(Rate::allowed(limit, room - uncounted - 1))
    }

    /// Returns the question for when so many requests wait and so many nodes share the limit: permits for those that wait,
    /// and some more while each second uses them up, which saves asking for each request.
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

    /// Takes what a reservation made at `now_ms` gave. Requests that were let in before are counted now.
    pub fn take(&mut self, reserved: Reserved, now_ms: i64) {
        self.last = Some((now_ms, reserved));
        self.unused = reserved.granted;
        self.uncounted = Uncounted::default();
    }

    /// Returns whether the last reservation is so old that its permits are of no use.
    pub fn is_idle(&self, now_ms: i64) -> bool {
        self.is_older(IDLE_MS, now_ms)
    }

    /// Returns whether nothing here is of use any more: neither permits nor the knowledge of the window.
    pub fn is_over(&mut self, now_ms: i64) -> bool {
        self.unused == 0 && self.is_older(MAX_WAIT_MS, now_ms) && self.uncounted.total(now_ms) == 0
    }

    fn is_older(&self, age_ms: i64, now_ms: i64) -> bool {
        self.last
            .is_none_or(|(made_ms, _)| (now_ms - made_ms).abs() >= age_ms)
    }

    /// How many permits are not used.
    pub fn unused(&self) -> u32 {
        self.unused
    }

    /// A reservation that only gives back what is not used.
    pub fn give_back(&mut self, now_ms: i64) -> Reservation {
        let unused = std::mem::take(&mut self.unused);
        let counted_ms = self.last.map_or(now_ms, |(_, last)| last.counted_ms);
        if let Some((_, last)) = &mut self.last {
            last.granted -= unused;
            last.room = last.room.saturating_add(unused);
        }
        Reservation {
            unused,
            counted_ms,
            now_ms,
            ..Reservation::default()
        }
    }

    /// The last question failed: what there was to give back is gone, and what is known of the window stays.
    pub fn fail(&mut self) {
        self.unused = 0;
        if let Some((_, last)) = &mut self.last {
            last.granted = 0;
        }
    }
}

/// Returns the share of each node in one part in so many of the limit.
fn part(limit: u32, parts: u32, nodes: usize) -> u32 {
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX).max(1);
    limit / parts.saturating_mul(nodes)
}
