//! Every effect of Ogene, as a pipeline of stages.
//!
//! | stage | content |
//! |---|---|
//! | `admit` | callers, rate limits, content rules and velocity limits |
//! | `accept` | sends become messages, in groups |
//! | `dispatch` | batches become submits; one worker for each carrier |
//! | `settle` | responses and receipts are committed, in groups |
//! | `notify` | outcomes are posted to the customers' URLs |
//!
//! Beside the stages: `cluster` shares the work with other nodes, `background` does the work of time,
//! and `operators` does what a command asks. `context` holds the store, the clock and whatever else the
//! stages share. `engine` starts all of them.
//!
//! The HTTP API is deliberately not known here, and neither is SQL. Time, randomness and connections
//! come from the [`System`] that the engine is given.

mod accept;
mod admit;
mod background;
mod cluster;
mod context;
mod dispatch;
mod engine;
mod error;
mod notify;
pub mod operators;
mod settings;
mod settle;

pub use accept::Sent;
pub use admit::callers::Caller;
pub use context::clock::Clock;
pub use context::network::{Network, NetworkFuture, Transport};
pub use context::plan::SANDBOX;
pub use context::random::Random;
pub use context::system::System;
pub use database::Outage;
pub use domain::rate::Rate;
pub use engine::{Admission, Credentials, Engine, NotAdmitted, Purpose, Reloaded, Report};
pub use error::{Error, StartError};
pub use settings::{
    BindMode, CallbackSettings, CarrierSettings, GuardSettings, Limits, Retention, SandboxLimits,
    Settings,
};
