//! Separate lanes for live and sandbox callbacks, so that the sandbox cannot delay paid callbacks.

use super::health::AttemptResult;
use super::lanes::{Lanes, Release};
use super::limits::WebhookLimits;
use super::waiting::InLane;
use domain::{AccountId, Environment};
use store::CallbackRoom;

/// The lanes of both environments.
#[derive(Debug)]
pub(crate) struct Partitions<T> {
    live: Lanes<T>,
    sandbox: Lanes<T>,
}

impl<T: InLane> Partitions<T> {
    /// Creates empty lanes.
    pub(crate) fn new(limits: WebhookLimits) -> Self {
        Self {
            live: Lanes::new(limits.of_live()),
            sandbox: Lanes::new(limits.of_sandbox()),
        }
    }

    /// Returns the lanes of an environment.
    pub(crate) fn of(&self, environment: Environment) -> &Lanes<T> {
        match environment {
            Environment::Live => &self.live,
            Environment::Sandbox => &self.sandbox,
        }
    }

    /// Returns the lanes of an environment for a change.
    pub(crate) fn of_mut(&mut self, environment: Environment) -> &mut Lanes<T> {
        match environment {
            Environment::Live => &mut self.live,
            Environment::Sandbox => &mut self.sandbox,
        }
    }

    /// Queues a callback in its lane. Returns it if there is no capacity.
    pub(crate) fn push(&mut self, callback: T) -> Result<(), T> {
        self.of_mut(callback.environment()).push(callback)
    }

    /// Takes a callback for a new task, if another may start before the next pause.
    pub(crate) fn start(&mut self) -> Option<T> {
        self.live.start().or_else(|| self.sandbox.start())
    }

    /// Returns `true` if no further task may start before a pause.
    pub(crate) fn must_pause(&self) -> bool {
        self.live.must_pause() || self.sandbox.must_pause()
    }

    /// Records a pause.
    pub(crate) fn paused(&mut self) {
        self.live.paused();
        self.sandbox.paused();
    }

    /// Records the end of an attempt. Returns its effect, and the next callback of the environment
    /// for the same task.
    pub(crate) fn finish(&mut self, callback: &T, result: AttemptResult) -> (Release, Option<T>) {
        let lanes = self.of_mut(callback.environment());
        let release = lanes.finish(callback, result);
        (release, lanes.next())
    }

    /// Returns the number of receivers with an open circuit breaker.
    pub(crate) fn open_breakers(&self) -> usize {
        self.live.open_breakers() + self.sandbox.open_breakers()
    }

    /// Returns how many further callbacks a lane may hold.
    pub(crate) fn capacity(
        &self,
        environment: Environment,
        account: AccountId,
        origin: &str,
    ) -> usize {
        self.of(environment).capacity(account, origin)
    }

    /// Returns the number of callbacks in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.live.in_flight() + self.sandbox.in_flight()
    }

    /// Returns how many further callbacks fit into memory.
    pub(crate) fn free(&self) -> CallbackRoom {
        CallbackRoom {
            live: self.live.free(),
            sandbox: self.sandbox.free(),
        }
    }

    /// Closes the lanes. Returns the queued callbacks.
    pub(crate) fn close(&mut self) -> Vec<T> {
        let mut waiting = self.live.close();
        waiting.extend(self.sandbox.close());
        waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Callback = (AccountId, Environment, String);

    impl InLane for Callback {
        fn account(&self) -> AccountId {
            self.0
        }
        fn environment(&self) -> Environment {
            self.1
        }
        fn origin(&self) -> &str {
            &self.2
        }
        fn is_retry(&self) -> bool {
            false
        }
    }

    const LIMITS: WebhookLimits = WebhookLimits {
        in_flight_per_lane: 8,
        in_flight_to_healthy: 32,
        in_flight: 512,
        account_divisor: 3,
        waiting: 20_000,
    };

    /// Starts all callbacks that may start. Returns how many of them belong to the environment.
    fn drain(partitions: &mut Partitions<Callback>, of: Environment) -> usize {
        let mut begun = Vec::new();
        loop {
            match partitions.start() {
                Some(callback) => begun.push(callback),
                None if partitions.must_pause() => partitions.paused(),
                None => break,
            }
        }
        begun.iter().filter(|callback| callback.1 == of).count()
    }

    #[test]
    fn sandbox_callbacks_leave_the_live_concurrency_free() {
        let mut partitions = Partitions::new(LIMITS);
        for account in 0..50 {
            for origin in 0..200 {
                let callback = (AccountId(account), Environment::Sandbox, origin.to_string());
                partitions.push(callback).ok();
            }
        }
        let sandbox = drain(&mut partitions, Environment::Sandbox);
        assert!((1..=LIMITS.in_flight / 8).contains(&sandbox), "{sandbox}");
        let paid = (AccountId(7), Environment::Live, "shop".to_owned());
        partitions.push(paid).unwrap();
        assert_eq!(drain(&mut partitions, Environment::Live), 1);
        let more = partitions.free();
        assert_eq!(more.live, LIMITS.waiting);
        assert!(more.sandbox < LIMITS.waiting / 8);
    }

    #[test]
    fn live_and_sandbox_share_the_configured_concurrency() {
        for in_flight in [2, 7, 8, 64, 512, 5_000] {
            let limits = WebhookLimits {
                in_flight,
                ..LIMITS
            };
            let (live, sandbox) = (limits.of_live(), limits.of_sandbox());
            assert_eq!(live.in_flight + sandbox.in_flight, in_flight);
            assert!(live.in_flight > 0 && sandbox.in_flight > 0);
        }
    }
}
