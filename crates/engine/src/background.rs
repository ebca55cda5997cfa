//! Periodic tasks: expiry, retention, held accounts and gauges.

mod gauges;
mod held_accounts;
pub(crate) mod retention;
pub(crate) mod sweeps;
