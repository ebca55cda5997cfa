//! Conversions between stored values and domain types.

use database::{Error, Result};
use domain::{Component, Environment, MessageId, Money, NodeId, NotPurse, Purse, Recipient};
use uuid::Uuid;

/// Returns the message id of a stored value.
pub(crate) fn message_id(stored: &[u8]) -> Result<MessageId> {
    Uuid::from_slice(stored)
        .map(MessageId)
        .map_err(|_| Error::Unreadable(format!("a message id of {} bytes", stored.len())))
}

/// Returns the bytes under which a message id is stored.
pub(crate) fn id_bytes(id: &MessageId) -> &[u8] {
    id.0.as_bytes()
}

/// Returns the number under which a node is stored as a holder. No node is 0, since
/// the column is part of keys.
pub(crate) fn holder(node: Option<NodeId>) -> i64 {
    node.map_or(0, |node| node.0)
}

/// Returns the node of a stored holder.
pub(crate) fn node(stored: i64) -> Option<NodeId> {
    (stored > 0).then_some(NodeId(stored))
}

/// Returns the time from which a message may be sent: the stored one, or that of its acceptance.
pub(crate) fn due_at_ms(id: MessageId, stored: Option<i64>) -> i64 {
    stored.unwrap_or_else(|| id.accepted_at_ms())
}

/// Returns the recipient of a stored number.
pub(crate) fn recipient(stored: i64) -> Recipient {
    Recipient::from_digits(stored.unsigned_abs())
}

/// Returns the number under which a recipient is stored. Fifteen digits fit.
pub(crate) fn number(recipient: Recipient) -> i64 {
    i64::try_from(recipient.digits()).unwrap_or(i64::MAX)
}

/// Returns the environment of a message from its stored flag.
pub(crate) fn environment(sandbox: bool) -> Environment {
    if sandbox {
        Environment::Sandbox
    } else {
        Environment::Live
    }
}

/// Returns the stored form of a message's payment: the name of a component that paid all, or the
/// amount of each.
pub(crate) fn paid_from(drawn: &Purse) -> String {
    let mut parts = drawn.parts();
    match (parts.next(), parts.next()) {
        (Some((only, _)), None) => only.as_str().to_owned(),
        _ => drawn.to_string(),
    }
}

/// Parses the amounts that paid the cost of a message.
pub(crate) fn purse(stored: &str, cost: Money) -> Result<Purse> {
    match Component::from_name(stored) {
        Some(only) => Ok([(only, cost)].into_iter().collect()),
        None => stored
            .parse()
            .map_err(|error: NotPurse| Error::Unreadable(error.to_string())),
    }
}

/// Parses a stored name of a domain enum.
pub(crate) fn named<T>(read: fn(&str) -> Option<T>, stored: &str) -> Result<T> {
    read(stored).ok_or_else(|| Error::Unreadable(format!("the word {stored:?}")))
}
