//! A send that waits for its commit.

use super::limits::FEW_RECIPIENTS;
use super::sent::Sent;
use crate::admit::velocity::Counted;
use crate::context::live::Live;
use crate::error::Error;
use domain::{Draft, MessageId, Refusal};
use std::sync::{Arc, OnceLock};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

/// The refusal for want of room, or time.
pub(crate) const UNAVAILABLE: Refusal = Refusal::Unavailable { retry_after_s: 1 };
/// When to send again what may stand, seconds: what holds its commit up holds up the next one too.
pub(crate) const ASK_AGAIN_S: u64 = 5;

/// A draft that waits for its commit.
pub(crate) struct Waiting {
    pub(crate) draft: Draft,
    /// The configuration that it was drafted by.
    pub(crate) live: Arc<Live>,
    /// Nothing where nothing is limited.
    pub(crate) counted: Option<Counted>,
    pub(crate) since: Instant,
    pub(crate) _room: OwnedSemaphorePermit,
    pub(crate) race: CommitRace,
    pub(crate) answer: oneshot::Sender<Result<Sent, Error>>,
}

/// Which came first: that a commit began with a send, as the message that it becomes, or that its time was over. So what
/// was answered that it was not accepted never is.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommitRace(Arc<OnceLock<Option<MessageId>>>);

impl CommitRace {
    /// Returns `true` if a commit may begin with it.
    pub(crate) fn begin(&self, message: MessageId) -> bool {
        self.0.set(Some(message)).is_ok()
    }

    /// The refusal when its time is over.
    pub(crate) fn over(&self) -> Refusal {
        match *self.0.get_or_init(|| None) {
            None => UNAVAILABLE,
            Some(message) => Refusal::OutcomeUnknown {
                message,
                retry_after_s: ASK_AGAIN_S,
            },
        }
    }
}

impl Waiting {
    pub(crate) fn recipients(&self) -> usize {
        self.draft.recipients.len()
    }

    /// Returns `true` if it is to more than a few, and so is nothing that overtakes others.
    pub(crate) fn is_campaign(&self) -> bool {
        self.recipients() > FEW_RECIPIENTS
    }
}
