//! Periodic tasks: expiry, retention, held accounts, the index of recipients and gauges.

pub(crate) mod gauges;
mod held_accounts;
mod recipient_index;
mod retention;
mod stops;
pub(crate) mod sweeps;
