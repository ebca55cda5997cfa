//! The nodes that share a database, and hints between them.

pub(crate) mod hints;
pub(crate) mod nodes;
