//! A send with an idempotency key, and its answer.

use super::sent::Sent;
use crate::admit::keys::KeyClaim;
use domain::Draft;
use domain::MessageId;
use domain::idempotency::{IdempotencyKey, Operation};
use std::sync::Arc;
use store::{KeyedRequest, KeyedSend, MakeAnswer, StoredAnswer};

/// The status of the answer to an accepted send.
const OK: u16 = 200;

/// A writer of the body of the answer to a send.
pub type WriteBody = Arc<dyn Fn(Sent) -> String + Send + Sync>;

/// The idempotency key of a request, and the form of its answer.
#[derive(Clone)]
pub struct Keyed {
    /// The key.
    pub key: IdempotencyKey,
    /// The operation that it was sent to.
    pub operation: Operation,
    /// The body of the answer. It is kept with the key.
    pub write: WriteBody,
}

/// The answer to a send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answered {
    /// The send was accepted now.
    First(Sent),
    /// The same request was accepted under its key before, and this was its answer.
    Replay(StoredAnswer),
}

/// A key on its way through the commit.
pub(crate) struct PendingKey {
    pub(crate) request: KeyedRequest,
    pub(crate) write: WriteBody,
    /// The key is in use until this is dropped.
    pub(crate) _claim: KeyClaim,
}

impl PendingKey {
    /// Returns the key as the transaction keeps it.
    pub(crate) fn of_send(&self, draft: &Arc<Draft>, id: MessageId) -> KeyedSend {
        let (draft, write) = (Arc::clone(draft), Arc::clone(&self.write));
        KeyedSend {
            request: self.request.clone(),
            answer: MakeAnswer(Arc::new(move |balance| StoredAnswer {
                status: OK,
                body: write(Sent::new(&draft, id, balance)),
                message: id,
            })),
        }
    }
}
