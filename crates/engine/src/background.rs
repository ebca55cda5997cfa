//! Periodic tasks: expiry, retention, held accounts and gauges.

mod gauges;
mod held_accounts;
pub(crate) mod retention;
mod stops;
pub(crate) mod sweeps;
