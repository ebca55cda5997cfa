//! The second stage: sends become durable messages by group commit.
//!
//! No timer delays a commit. A group holds the sends that arrived while the last commit ran.

mod campaign_limit;
mod commit;
mod group;
pub(crate) mod keyed;
mod limits;
mod queue;
mod queued_send;
mod sent;

use crate::context::Context;
use std::sync::Arc;
use tokio::task::JoinHandle;

pub use keyed::{Answered, Keyed, WriteBody};
pub(crate) use queue::AcceptQueue;
pub use sent::{PersonalisedSent, Sent};

/// Opens a queue for `capacity` sends, and starts the task that commits them.
pub(crate) fn start(context: Arc<Context>, capacity: usize) -> (AcceptQueue, JoinHandle<()>) {
    let (queue, queued) = AcceptQueue::open(capacity);
    let committing = group::run(context, queued, queue.campaign_limit());
    (queue, tokio::spawn(committing))
}
