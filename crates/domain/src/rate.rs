//! Rate limits: sliding windows of 60 seconds for each account, environment and kind of request.
//!
//! A process without a cluster counts every request in its [`Window`]. The nodes of a cluster share
//! a window in the database. Each node reserves several permits at a time, and allows a few
//! requests without a permit ([`Permits`]), so that most requests need no database.

mod permits;
mod reservation;
mod slots;
#[cfg(test)]
mod tests;
mod uncounted;
mod window;

pub use permits::{IDLE_MS, Permits};
pub use reservation::{Rate, Reservation, Reserved};
pub use window::Window;

use crate::account::Environment;
use crate::ids::AccountId;
use crate::named_enum;

named_enum! {
    /// The kinds of requests, each with a limit of its own.
    pub enum RateKind {
        /// Sends.
        Send = "send",
        /// Delivery reports.
        Report = "report",
        /// Balance, sender IDs and account.
        Read = "read",
        /// All requests of a token with a limit of its own.
        Token = "token",
        /// Simulated recipients of the sandbox.
        Recipient = "recipient",
        /// Simulated callbacks of the sandbox.
        Callback = "callback",
    }
}

/// The key of a window.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct RateKey {
    /// The account.
    pub account: AccountId,
    /// The environment.
    pub environment: Environment,
    /// The kind of the requests.
    pub kind: RateKind,
    /// The number of a token that has a limit of its own, which counts requests of every kind.
    pub token: Option<u64>,
}
