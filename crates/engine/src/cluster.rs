//! The nodes that share a database: heartbeats, hints and takeover.

mod deadline;
mod hints;
mod membership;
pub(crate) mod run;
pub(crate) mod takeover;
