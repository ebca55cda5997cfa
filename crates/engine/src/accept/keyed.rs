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
    /// The operation of the request.
    pub operation: Operation,
    /// The writer of the answer's body, which is stored with the key.
    pub write: WriteBody,
}

/// The answer to a send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answered {
    /// The send was accepted now.
    First(Sent),
    /// The same request was accepted earlier with the same key. This is its stored answer.
    Replay(StoredAnswer),
}

/// The begin of a change with an idempotency key.
pub(crate) enum Begun {
    /// The change is to be made. Its key stays in use until the claim is dropped.
    New(KeyedRequest, KeyClaim),
    /// The change was made before, with this answer.
    Replay(StoredAnswer),
}

/// The idempotency key of a send that is not yet committed.
pub(crate) struct PendingKey {
    pub(crate) request: KeyedRequest,
    pub(crate) write: WriteBody,
    /// The key stays in use until this value is dropped.
    pub(crate) _claim: KeyClaim,
}

impl PendingKey {
    /// Returns the key in the form that the transaction stores.
    pub(crate) fn of_send(&self, draft: &Arc<Draft>, id: MessageId) -> KeyedSend {
        let (draft, write) = (Arc::clone(draft), Arc::clone(&self.write));
        KeyedSend {
            request: self.request.clone(),
            answer: MakeAnswer(Arc::new(move |balance| StoredAnswer {
                status: OK,
                body: write(Sent::new(&draft, id, balance)),
                message: Some(id),
            })),
        }
    }
}
