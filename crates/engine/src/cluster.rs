//! This process among the nodes that share a database.

pub(crate) mod hints;
pub(crate) mod membership;
pub(crate) mod run;
pub(crate) mod takeover;
