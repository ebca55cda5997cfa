//! How many callbacks may be in hand and in flight.

use crate::settings::CallbackSettings;

/// Callbacks in memory that wait for their turn.
const MAX_WAITING: usize = 20_000;
/// A receiver that is well may have so many times as many callbacks in flight as any, while there are places.
const TIMES_TO_PROVEN: usize = 4;
/// An account may have in flight one part in so many, and one more, of the places that it has and that are free.
const ACCOUNT_PARTS: usize = 3;
/// The sandbox has one part in so many of all places, and of the waiting room as much again.
const SANDBOX_PARTS: usize = 8;

/// How much may be in hand and in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhookLimits {
    /// Callbacks in flight to one origin of one account.
    pub(crate) in_flight_per_lane: usize,
    /// The same where the last attempt went well, while all such together have less than a quarter of all places.
    pub(crate) in_flight_to_proven: usize,
    /// Callbacks in flight altogether.
    pub(crate) in_flight: usize,
    /// An account may have one part in this and one more of what it has in flight and what is free together.
    pub(crate) account_parts: usize,
    /// Callbacks waiting in memory altogether; the others stay rows in the database.
    pub(crate) waiting: usize,
}

/// How many callbacks may be in flight to one receiver now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    /// To any.
    pub(crate) any: usize,
    /// To one that is well.
    pub(crate) proven: usize,
}

impl WebhookLimits {
    /// The limits that an operator has set.
    pub(crate) fn of(settings: &CallbackSettings) -> Self {
        let per_lane = settings.concurrency_per_origin;
        Self {
            in_flight_per_lane: per_lane,
            in_flight_to_proven: per_lane.saturating_mul(TIMES_TO_PROVEN),
            in_flight: settings.concurrency,
            account_parts: ACCOUNT_PARTS,
            waiting: MAX_WAITING,
        }
    }

    /// The limits for callbacks of real messages.
    pub(crate) fn of_live(self) -> Self {
        Self {
            in_flight: (self.in_flight - self.sandbox_places()).max(1),
            ..self
        }
    }

    /// The limits for callbacks of the sandbox.
    pub(crate) fn of_sandbox(self) -> Self {
        Self {
            in_flight: self.sandbox_places(),
            waiting: self.waiting / SANDBOX_PARTS,
            ..self
        }
    }

    fn sandbox_places(self) -> usize {
        (self.in_flight / SANDBOX_PARTS).max(1).min(self.in_flight)
    }

    /// How many an account may have in flight that has so many, while so many places are free: no account takes the last
    /// ones, however many receivers it names, and whoever comes anew finds some.
    pub(crate) fn of_account(&self, has: usize, free: usize) -> usize {
        (has + free).div_ceil(self.account_parts + 1)
    }

    /// How many may be in flight to one receiver while so many are to those that are well. Several of these may hang at
    /// once, and then keep what they have: more than a quarter would crowd out those that were never tried (`standing`).
    pub(crate) fn most(&self, to_proven: usize) -> Most {
        let any = self.in_flight_per_lane;
        let proven = if to_proven < self.in_flight / 4 {
            self.in_flight_to_proven
        } else {
            any
        };
        Most { any, proven }
    }
}
