//! PostgreSQL: connections, transactions, and the diagnosis of a server that cannot be used.

pub(crate) mod commit;
mod connect;
mod diagnose;
pub(crate) mod listener;
pub(crate) mod open;
pub(crate) mod pooled;
mod pooler;
pub(crate) mod remedy;
pub(crate) mod server;
mod server_check;
mod tls_relay;
mod url;
