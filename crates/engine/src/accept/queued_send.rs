//! A send in the accept queue.

use super::keyed::{Answered, PendingKey};
use super::limits::SMALL_SEND_RECIPIENTS;
use crate::admit::velocity::Counted;
use crate::context::live::Live;
use crate::error::Error;
use domain::{Draft, MessageId, Refusal};
use std::sync::{Arc, OnceLock};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

/// The refusal of a send because the queue is full or the send timed out.
pub(crate) const UNAVAILABLE: Refusal = Refusal::Unavailable { retry_after_s: 1 };
/// Seconds after which a client may repeat a send with unknown outcome. A delay of its commit
/// delays the next commit too.
pub(crate) const RETRY_AFTER_S: u64 = 5;

/// A draft in the accept queue.
pub(crate) struct QueuedSend {
    pub(crate) draft: Draft,
    /// The configuration that the draft was made with.
    pub(crate) live: Arc<Live>,
    /// `None` if no velocity limit is configured.
    pub(crate) counted: Option<Counted>,
    pub(crate) queued_at: Instant,
    pub(crate) _capacity: OwnedSemaphorePermit,
    pub(crate) race: CommitRace,
    pub(crate) key: Option<PendingKey>,
    pub(crate) answer: oneshot::Sender<Result<Answered, Error>>,
}

/// A race between the begin of a commit and the timeout of its client. The first one is recorded,
/// so a send that the client knows as refused is never committed.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitRace(Arc<OnceLock<Option<MessageId>>>);

impl CommitRace {
    /// Records that the commit begins. Returns `false` if the client timed out before.
    pub(crate) fn begin(&self, message: MessageId) -> bool {
        self.0.set(Some(message)).is_ok()
    }

    /// Records the timeout. Returns the refusal for the client.
    pub(crate) fn time_out(&self) -> Refusal {
        match *self.0.get_or_init(|| None) {
            None => UNAVAILABLE,
            Some(message) => Refusal::OutcomeUnknown {
                message,
                retry_after_s: RETRY_AFTER_S,
            },
        }
    }
}

impl QueuedSend {
    pub(crate) fn recipients(&self) -> usize {
        self.draft.recipients.len()
    }

    /// Returns `true` if the send has more recipients than a small send.
    pub(crate) fn is_campaign(&self) -> bool {
        self.recipients() > SMALL_SEND_RECIPIENTS
    }
}
