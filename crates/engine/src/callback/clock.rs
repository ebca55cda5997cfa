//! The engine's clock.

pub use crate::Clock;
