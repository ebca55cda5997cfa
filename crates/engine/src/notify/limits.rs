//! The limits of callbacks in memory and in flight.

use crate::settings::CallbackSettings;

/// Maximum number of callbacks in memory that are not in flight.
const MAX_WAITING: usize = 20_000;
/// Factor for the concurrency to a healthy receiver, while capacity is free.
const HEALTHY_FACTOR: usize = 4;
/// An account may use one part in this number plus one of its own and the free concurrency.
const ACCOUNT_DIVISOR: usize = 3;
/// Divisor for the part of the concurrency and of the memory that the sandbox has.
const SANDBOX_DIVISOR: usize = 8;

/// The limits of one environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebhookLimits {
    /// Concurrency to one origin of one account.
    pub(crate) in_flight_per_lane: usize,
    /// Concurrency to a healthy receiver, while all healthy receivers use less than a quarter of
    /// the total.
    pub(crate) in_flight_to_healthy: usize,
    /// Total concurrency.
    pub(crate) in_flight: usize,
    /// An account may use one part in this number plus one of its own and the free concurrency.
    pub(crate) account_divisor: usize,
    /// Maximum number of callbacks in memory that are not in flight. Further ones stay in the
    /// database.
    pub(crate) waiting: usize,
}

/// The current concurrency of a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneLimit {
    /// The concurrency to any receiver.
    pub(crate) any: usize,
    /// The concurrency to a healthy receiver.
    pub(crate) healthy: usize,
}

impl WebhookLimits {
    /// Returns the limits of the configuration.
    pub(crate) fn of(settings: &CallbackSettings) -> Self {
        let per_lane = settings.concurrency_per_origin;
        Self {
            in_flight_per_lane: per_lane,
            in_flight_to_healthy: per_lane.saturating_mul(HEALTHY_FACTOR),
            in_flight: settings.concurrency,
            account_divisor: ACCOUNT_DIVISOR,
            waiting: MAX_WAITING,
        }
    }

    /// Returns the limits for live callbacks.
    pub(crate) fn of_live(self) -> Self {
        Self {
            in_flight: (self.in_flight - self.sandbox_concurrency()).max(1),
            ..self
        }
    }

    /// Returns the limits for sandbox callbacks.
    pub(crate) fn of_sandbox(self) -> Self {
        Self {
            in_flight: self.sandbox_concurrency(),
            waiting: self.waiting / SANDBOX_DIVISOR,
            ..self
        }
    }

    fn sandbox_concurrency(self) -> usize {
        (self.in_flight / SANDBOX_DIVISOR)
            .max(1)
            .min(self.in_flight)
    }

    /// Returns the concurrency of an account with `has` callbacks in flight, while `free` are free.
    /// So no account can use up the capacity with many receivers, and a new account always gets
    /// some.
    pub(crate) fn of_account(&self, has: usize, free: usize) -> usize {
        (has + free).div_ceil(self.account_divisor + 1)
    }

    /// Returns the concurrency of a lane while `to_healthy` callbacks are in flight to healthy
    /// receivers. Healthy receivers may hang together. With more than a quarter they would crowd
    /// out receivers that were never tried (`health`).
    pub(crate) fn lane_limit(&self, to_healthy: usize) -> LaneLimit {
        let any = self.in_flight_per_lane;
        let healthy = if to_healthy < self.in_flight / 4 {
            self.in_flight_to_healthy
        } else {
            any
        };
        LaneLimit { any, healthy }
    }
}
