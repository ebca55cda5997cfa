//! The second stage: sends become durable messages. The sends that arrive together are committed together.
//!
//! No timer delays a commit: the next group holds whatever arrived while the last commit ran.

mod commit;
mod group;
mod limits;
mod load;
mod queue;
mod sent;
mod waiting;

use crate::context::Context;
use std::sync::Arc;
use tokio::task::JoinHandle;

pub(crate) use queue::AcceptQueue;
pub use sent::Sent;

/// Opens the queue for so many sends, and starts the task that commits them.
pub(crate) fn start(context: Arc<Context>, capacity: usize) -> (AcceptQueue, JoinHandle<()>) {
    let (queue, waiting) = AcceptQueue::open(capacity);
    let committing = group::run(context, waiting, queue.rate());
    (queue, tokio::spawn(committing))
}
