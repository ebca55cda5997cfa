//! The actor of a change.

use crate::context::clock::Clock;
use std::sync::Arc;
use store::By;

/// The operator who makes a change, as recorded in the audit list.
#[derive(Clone, Debug)]
pub struct Actor {
    clock: Clock,
    name: Arc<str>,
}

impl Actor {
    /// Creates an actor with its name in the audit list, such as `cli:ada`.
    pub fn new(clock: Clock, name: &str) -> Self {
        Self {
            clock,
            name: name.into(),
        }
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the actor with the current time.
    pub(super) fn now(&self) -> By {
        By {
            actor: Arc::clone(&self.name),
            at_ms: self.clock.now_ms(),
        }
    }
}
