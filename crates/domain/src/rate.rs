//! Rate limits: true sliding windows of 60 seconds, per account, environment and kind of request.
//!
//! A [`Window`] counts. A process that is alone counts every request in it. Nodes that share a window reserve
//! some permits at a time from it and use them shortly, and let a few requests in that it learns of later or never
//! ([`Permits`]), so that they need not ask for each request.

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
    /// The kinds of requests that are counted apart.
    pub enum RateKind {
        /// Sends.
        Send = "send",
        /// Delivery reports.
        Report = "report",
        /// Balance, sender IDs, account.
        Read = "read",
        /// Recipients that the sandbox simulates.
        Recipient = "recipient",
        /// Simulated messages for which there is a callback.
        Callback = "callback",
    }
}

/// The key of a window.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct RateKey {
    /// The account.
    pub account: AccountId,
    /// In which environment.
    pub environment: Environment,
    /// The kind of the requests.
    pub kind: RateKind,
}
