//! How many callbacks may be in hand and in flight.

use super::CallbackSettings;

/// Callbacks in memory that wait for their turn.
const MAX_WAITING: usize = 20_000;
/// A receiver that is well may have so many times as many callbacks in flight as any, while there are places.
const TIMES_TO_PROVEN: usize = 4;

/// How much may be in hand and in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Callbacks in flight to one origin of one account.
    pub(super) in_flight_per_lane: usize,
    /// The same where the last attempt went well, while all such together have less than a quarter of all places.
    pub(super) in_flight_to_proven: usize,
    /// Callbacks in flight altogether.
    pub(super) in_flight: usize,
    /// Callbacks waiting in memory altogether; the others stay rows in the database.
    pub(super) waiting: usize,
}

/// How many callbacks may be in flight to one receiver now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    /// To any.
    pub(super) any: usize,
    /// To one that is well.
    pub(super) proven: usize,
}

impl Limits {
    /// Those that an operator has set.
    pub(super) fn of(settings: &CallbackSettings) -> Self {
        let per_lane = settings.concurrency_per_origin;
        Self {
            in_flight_per_lane: per_lane,
            in_flight_to_proven: per_lane.saturating_mul(TIMES_TO_PROVEN),
            in_flight: settings.concurrency,
            waiting: MAX_WAITING,
        }
    }

    /// How many may be in flight to one receiver while so many are to those that are well. Several of these may hang at
    /// once, and then keep what they have: more than a quarter would crowd out those that were never tried (`standing`).
    pub(super) fn most(&self, to_proven: usize) -> Most {
        let any = self.in_flight_per_lane;
        let proven = if to_proven < self.in_flight / 4 {
            self.in_flight_to_proven
        } else {
            any
        };
        Most { any, proven }
    }
}
