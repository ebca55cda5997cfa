//! The work of time: expiry, retention, held accounts, gauges.

mod gauges;
mod held_accounts;
pub(crate) mod retention;
pub(crate) mod sweeps;
