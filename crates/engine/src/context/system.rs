//! The outside world of the engine: clock, randomness and network. A simulation replaces it.

use crate::context::clock::Clock;
use crate::context::network::{Internet, Network};
use crate::context::random::Random;
use crate::error::StartError;
use std::sync::Arc;

/// The outside world of the engine. A clone shares its state.
#[derive(Clone)]
pub struct System {
    /// The clock.
    pub clock: Clock,
    /// The source of randomness.
    pub random: Random,
    /// The network.
    pub network: Arc<dyn Network>,
}

impl System {
    /// Returns the clock, randomness and network of the operating system.
    pub fn from_os() -> Result<Self, StartError> {
        let network = Internet::from_system().map_err(StartError::Resolver)?;
        Ok(Self {
            clock: Clock::system(),
            random: Random::system(),
            network: Arc::new(network),
        })
    }
}
