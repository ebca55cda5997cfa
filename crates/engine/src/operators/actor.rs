//! The actor of a change.

use crate::context::clock::Clock;
use std::sync::Arc;
use store::By;

/// An operator at work, as the audit names them.
#[derive(Clone, Debug)]
pub struct Actor {
    clock: Clock,
    name: Arc<str>,
}

impl Actor {
    /// The actor that the audit calls `name`, such as `cli:ada`.
    pub fn new(clock: Clock, name: &str) -> Self {
        Self {
            clock,
            name: name.into(),
        }
    }

    /// The time for them.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Who does something now.
    pub(super) fn now(&self) -> By {
        By {
            actor: Arc::clone(&self.name),
            at_ms: self.clock.now_ms(),
        }
    }
}
