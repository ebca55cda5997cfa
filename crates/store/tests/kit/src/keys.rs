//! The keys of messages, and messages with idempotency keys.

use crate::kit::DAY_MS;
use domain::idempotency::IdempotencyKey;
use std::sync::Arc;
use store::{KeyedRequest, KeyedSend, MakeAnswer, MessageKey, NewMessage, StoredAnswer};

/// Returns an idempotency key of this name.
pub fn key(name: &str) -> IdempotencyKey {
    IdempotencyKey::read([name.as_bytes()]).unwrap().unwrap()
}

/// Returns the message as the changes of messages name it.
pub fn message_key(message: &NewMessage) -> MessageKey {
    MessageKey {
        account: message.draft.account,
        environment: message.draft.environment,
        message: message.id,
    }
}

/// Returns a request with a key of this name.
pub fn request_of(name: &str, request: u8) -> KeyedRequest {
    KeyedRequest {
        key: key(name),
        request: [request; 16],
        window_ms: DAY_MS,
    }
}

/// Returns a message with a key, whose answer is the balance.
pub fn keyed(message: NewMessage, name: &str, request: u8) -> NewMessage {
    let id = message.id;
    let request = request_of(name, request);
    let answer = move |balance: domain::Money| StoredAnswer {
        status: 200,
        body: balance.to_string(),
        message: Some(id),
    };
    NewMessage {
        key: Some(KeyedSend {
            request,
            answer: MakeAnswer(Arc::new(answer)),
        }),
        ..message
    }
}
