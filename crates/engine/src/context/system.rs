//! The outside world of the engine: the time, chance, and the network. A simulation has its own.

use crate::context::clock::Clock;
use crate::context::network::{Internet, Network};
use crate::context::random::Random;
use crate::error::StartError;
use std::sync::Arc;

/// The world around the engine; a clone is the same one.
#[derive(Clone)]
pub struct System {
    /// The time.
    pub clock: Clock,
    /// The randomness that nobody can know before.
    pub random: Random,
    /// Whom connections reach.
    pub network: Arc<dyn Network>,
}

impl System {
    /// The world as the operating system shows it.
    pub fn from_os() -> Result<Self, StartError> {
        let network = Internet::from_system().map_err(StartError::Resolver)?;
        Ok(Self {
            clock: Clock::system(),
            random: Random::system(),
            network: Arc::new(network),
        })
    }
}
