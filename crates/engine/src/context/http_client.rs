//! Connections to the HTTP servers of others.

pub(crate) mod connect;
pub(crate) mod pool;
