//! PostgreSQL: connections, transactions, and the diagnosis of a server that cannot be used.

pub(crate) mod commit;
mod connect;
mod diagnose;
mod facts;
pub(crate) mod listener;
pub(crate) mod open;
pub(crate) mod pooled;
mod pooler;
mod relay;
pub(crate) mod server;
pub(crate) mod unusable;
mod url;
