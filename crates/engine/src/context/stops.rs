//! The stopped messages, whose unsent recipients are put back to the database.

use domain::MessageId;
use parking_lot::RwLock;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use store::Batch;
use tokio::sync::Notify;

/// The hint that a message was stopped. No carrier has this name.
pub(crate) const STOP_HINT: &str = "*";

/// The stopped messages that this node knows. They are only a hint: the database decides which
/// batches may be claimed.
#[derive(Default)]
pub(crate) struct StoppedMessages {
    any: AtomicBool,
    messages: RwLock<HashSet<MessageId>>,
    changed: Notify,
}

impl StoppedMessages {
    /// Returns `true` if recipients of this batch must not be submitted. Resends and second legs of
    /// a stopped message go on.
    pub(crate) fn contain(&self, batch: &Batch) -> bool {
        self.any.load(Ordering::Relaxed)
            && batch.is_unsent()
            && self.messages.read().contains(&batch.message)
    }

    /// Replaces the stopped messages. Returns `true` if a new one is among them.
    pub(crate) fn set(&self, messages: HashSet<MessageId>) -> bool {
        let mut stopped = self.messages.write();
        let is_new = messages.iter().any(|message| !stopped.contains(message));
        self.any.store(!messages.is_empty(), Ordering::Relaxed);
        *stopped = messages;
        is_new
    }

    /// Notifies the task that reads the stopped messages.
    pub(crate) fn note_change(&self) {
        self.changed.notify_one();
    }

    /// Waits for a change.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }
}
