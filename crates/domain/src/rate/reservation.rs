//! Questions to a window, and their answers.

use super::slots::reset_s;
use crate::refusal::Refusal;

/// The decision of the limit on one request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Requests allowed in any 60 seconds.
    pub limit: u32,
    /// How many more are allowed now.
    pub remaining: u32,
    /// The refusal, when this request was one too many.
    pub refused: Option<Refusal>,
}

impl Rate {
    pub(super) fn allowed(limit: u32, remaining: u32) -> Self {
        Self {
            limit,
            remaining,
            refused: None,
        }
    }

    pub(super) fn refused(limit: u32, retry_after_s: u64) -> Self {
        Self {
            limit,
            remaining: 0,
            refused: Some(Refusal::RateLimited {
                limit,
                retry_after_s,
            }),
        }
    }
}

/// A question to a window: permits that are wanted, permits that come back unused, and requests that were let in without one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Reservation {
    /// Requests allowed in any 60 seconds.
    pub limit: u32,
    /// Permits wanted.
    pub wanted: u32,
    /// Permits of the reservation before that were not used.
    pub unused: u32,
    /// Where those were counted: their [`Reserved::counted_ms`].
    pub counted_ms: i64,
    /// Requests that were let in before, without asking.
    pub uncounted: u32,
    /// Now, Unix milliseconds.
    pub now_ms: i64,
}

/// The answer of a window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reserved {
    /// Permits granted, as many as were wanted if there was room.
    pub granted: u32,
    /// When they count: the beginning of their slot, Unix milliseconds.
    pub counted_ms: i64,
    /// For how many more there is room.
    pub room: u32,
    /// When the oldest counted slot is past, Unix milliseconds.
    pub reset_ms: i64,
}

impl Reserved {
    /// Returns the decision on a request that asked for all of it at once. The permits of one that is refused are to be
    /// given back.
    pub fn rate(&self, asked: &Reservation) -> Rate {
        if self.granted < asked.wanted {
            Rate::refused(asked.limit, reset_s(self.reset_ms, asked.now_ms))
        } else {
            Rate::allowed(asked.limit, self.room)
        }
    }
}
