//! Periodic tasks: expiry, retention, held accounts, the index of recipients and gauges.

mod gauges;
mod held_accounts;
pub(crate) mod recipient_index;
pub(crate) mod retention;
mod stops;
pub(crate) mod sweeps;
