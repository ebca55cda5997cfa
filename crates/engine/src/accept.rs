//! The second stage: sends become durable messages. Sends that arrive together are committed together.
//!
//! No timer delays a commit: the next group holds whatever arrived while the last commit ran.

mod commit;
mod group;
mod load;
mod queue;

pub use commit::Sent;
pub(crate) use commit::steer;
pub(crate) use queue::Door;
