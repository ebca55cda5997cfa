//! Messages that request acceptance, and the answers to them.

use crate::batches::batch::Batch;
use crate::idempotency::{KeyedRequest, StoredAnswer};
use domain::{Draft, MessageId, Money, Refusal, Terms};
use std::fmt;
use std::sync::Arc;

/// A draft that requests acceptance.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// The id of the message.
    pub id: MessageId,
    /// The content, the recipients and the price.
    pub draft: Arc<Draft>,
    /// The terms of its gateway.
    pub terms: Terms,
    /// The batches that send it.
    pub batches: Vec<Batch>,
    /// The idempotency key of the request, if it has one.
    pub key: Option<KeyedSend>,
}

/// A send with an idempotency key.
#[derive(Clone, Debug)]
pub struct KeyedSend {
    /// The key and the request.
    pub request: KeyedRequest,
    /// The form of its answer.
    pub answer: MakeAnswer,
}

/// A writer of the answer to an accepted send, from the balance after its charge.
#[derive(Clone)]
pub struct MakeAnswer(pub Arc<dyn Fn(Money) -> StoredAnswer + Send + Sync>);

impl fmt::Debug for MakeAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeAnswer")
    }
}

/// The answer to a draft.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Accepted {
    /// The message is accepted and paid for.
    Yes {
        /// The balance of the wallet after it. It is zero in the sandbox, which has no wallet.
        balance: Money,
    },
    /// The same request was accepted under its key before, with this answer. Nothing was charged.
    Replay(StoredAnswer),
    /// The draft is refused, and nothing was charged.
    No(Refusal),
}
