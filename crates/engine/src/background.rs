//! Periodic tasks: expiry, retention, held accounts, inbound messages, the control of carriers, the
//! index of recipients and gauges.

mod alerts;
pub(crate) mod controls;
pub(crate) mod gauges;
pub(crate) mod held_accounts;
mod inbound;
mod receipt_polls;
mod recipient_index;
mod retention;
mod smpp_users;
mod stops;
pub(crate) mod sweeps;
