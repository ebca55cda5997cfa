//! This process among the nodes that share a database.

mod deadline;
mod hints;
mod membership;
pub(crate) mod run;
pub(crate) mod takeover;
