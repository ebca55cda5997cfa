//! Reservations of permits from a window, and the decision on a request.

use super::slots::reset_s;
use crate::refusal::Refusal;

/// The decision on a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Requests allowed in any 60 seconds.
    pub limit: u32,
    /// The number of further requests that are allowed now.
    pub remaining: u32,
    /// The refusal, if the limit is exceeded.
    pub refused: Option<Refusal>,
}

impl Rate {
    /// Returns the decision of two limits that both allow a request: the one that allows less.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        if self.refused.is_none() && other.remaining < self.remaining {
            other
        } else {
            self
        }
    }

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

/// A request to a window: it reserves permits, returns unused ones, and counts uncounted requests.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Reservation {
    /// Requests allowed in any 60 seconds.
    pub limit: u32,
    /// The number of permits to reserve.
    pub wanted: u32,
    /// The number of unused permits of the last reservation.
    pub unused: u32,
    /// The slot in which the unused permits were counted: their [`Reserved::counted_ms`].
    pub counted_ms: i64,
    /// The number of uncounted requests.
    pub uncounted: u32,
    /// The current time, Unix milliseconds.
    pub now_ms: i64,
}

/// The result of a reservation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reserved {
    /// The number of granted permits: all wanted permits if the limit allows them.
    pub granted: u32,
    /// The begin of the slot in which the granted permits count, Unix milliseconds.
    pub counted_ms: i64,
    /// The number of permits that are still free.
    pub remaining: u32,
    /// The time at which the oldest counted slot expires, Unix milliseconds.
    pub reset_ms: i64,
}

impl Reserved {
    /// Returns the decision on a request that needs all wanted permits. If the request is refused,
    /// the granted permits must be returned.
    pub fn rate(&self, asked: &Reservation) -> Rate {
        if self.granted < asked.wanted {
            Rate::refused(asked.limit, reset_s(self.reset_ms, asked.now_ms))
        } else {
            Rate::allowed(asked.limit, self.remaining)
        }
    }
}
