//! The answer to an accepted send.

use domain::{Adjustments, Gateway, MessageId, Money};

/// The answer to an accepted send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// Its id.
    pub message_id: MessageId,
    /// What was charged; in the sandbox, what would have been.
    pub cost: Money,
    /// What the wallet holds now; in the sandbox, the simulated wallet.
    pub balance: Money,
    /// Recipients.
    pub recipients_count: usize,
    /// The gateway used.
    pub gateway: Gateway,
    /// Whether it is sent as Unicode.
    pub unicode: bool,
    /// Pages billed per recipient, the largest number.
    pub page_count: i64,
    /// What was in the list and is no recipient, the first of it.
    pub invalid_recipients: Vec<String>,
    /// How much of it there was.
    pub invalid_count: usize,
    /// What of the request was changed or not read.
    pub adjustments: Adjustments,
}
