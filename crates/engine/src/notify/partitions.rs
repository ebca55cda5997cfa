//! Callbacks of real messages and those of the sandbox, each with places and waiting room of their own: whatever the
//! sandbox does, a callback that was paid for does not wait for it.

use super::health::AttemptResult;
use super::lanes::{Lanes, Release};
use super::limits::WebhookLimits;
use super::waiting::InLane;
use domain::{AccountId, Environment};
use store::CallbackRoom;

/// The callbacks in hand of both.
#[derive(Debug)]
pub(crate) struct Partitions<T> {
    live: Lanes<T>,
    sandbox: Lanes<T>,
}

impl<T: InLane> Partitions<T> {
    /// No callback in hand yet.
    pub(crate) fn new(limits: WebhookLimits) -> Self {
        Self {
            live: Lanes::new(limits.of_live()),
            sandbox: Lanes::new(limits.of_sandbox()),
        }
    }

    /// The lanes of one environment.
    pub(crate) fn of(&self, environment: Environment) -> &Lanes<T> {
        match environment {
            Environment::Live => &self.live,
            Environment::Sandbox => &self.sandbox,
        }
    }

    /// The lanes of one environment, to change them.
    pub(crate) fn of_mut(&mut self, environment: Environment) -> &mut Lanes<T> {
        match environment {
            Environment::Live => &mut self.live,
            Environment::Sandbox => &mut self.sandbox,
        }
    }

    /// Puts a callback at the end of its lane; gives it back when there is no room.
    pub(crate) fn push(&mut self, callback: T) -> Result<(), T> {
        self.of_mut(callback.environment()).push(callback)
    }

    /// The next callback to post in a flight that begins.
    pub(crate) fn start(&mut self) -> Option<T> {
        self.live.start().or_else(|| self.sandbox.start())
    }

    /// Returns `true` if no flight may begin before there was a pause.
    pub(crate) fn wants_pause(&self) -> bool {
        self.live.wants_pause() || self.sandbox.wants_pause()
    }

    /// There was a pause.
    pub(crate) fn paused(&mut self) {
        self.live.paused();
        self.sandbox.paused();
    }

    /// A callback is no longer in flight. Gives what follows, and the next one of its environment, which takes its place.
    pub(crate) fn finish(&mut self, callback: &T, result: AttemptResult) -> (Release, Option<T>) {
        let lanes = self.of_mut(callback.environment());
        let release = lanes.finish(callback, result);
        (release, lanes.next())
    }

    /// How many receivers are only tried.
    pub(crate) fn broken(&self) -> usize {
        self.live.broken() + self.sandbox.broken()
    }

    /// How many more one lane may hold.
    pub(crate) fn room(&self, environment: Environment, account: AccountId, origin: &str) -> usize {
        self.of(environment).room(account, origin)
    }

    /// How many are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.live.in_flight() + self.sandbox.in_flight()
    }

    /// How many callbacks there is room for in memory, whatever their lanes.
    pub(crate) fn free(&self) -> CallbackRoom {
        CallbackRoom {
            live: self.live.free(),
            sandbox: self.sandbox.free(),
        }
    }

    /// Takes nothing more and gives nothing more out; gives back what was waiting.
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
        in_flight_to_proven: 32,
        in_flight: 512,
        account_parts: 3,
        waiting: 20_000,
    };

    /// Begins all that may fly; gives how many of them are of the first environment.
    fn drain(partitions: &mut Partitions<Callback>, of: Environment) -> usize {
        let mut begun = Vec::new();
        loop {
            match partitions.start() {
                Some(callback) => begun.push(callback),
                None if partitions.wants_pause() => partitions.paused(),
                None => break,
            }
        }
        begun.iter().filter(|callback| callback.1 == of).count()
    }

    #[test]
    fn sandbox_callbacks_leave_the_places_of_others_free() {
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
    fn live_and_sandbox_together_have_as_many_places_as_are_set() {
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
