//! The answer to an accepted send.

use domain::{Adjustments, Gateway, MessageId, Money};

/// The answer to an accepted send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// Its id.
    pub message_id: MessageId,
    /// The charge; in the sandbox, the one that would have been.
    pub cost: Money,
    /// The balance of the wallet; in the sandbox, the simulated wallet.
    pub balance: Money,
    /// Recipients.
    pub recipients_count: usize,
    /// The gateway used.
    pub gateway: Gateway,
    /// `true` if it is sent as Unicode.
    pub unicode: bool,
    /// Pages billed per recipient, the largest number.
    pub page_count: i64,
    /// The first entries of the list that are no recipients.
    pub invalid_recipients: Vec<String>,
    /// How much of it there was.
    pub invalid_count: usize,
    /// The parts of the request that were changed or not read.
    pub adjustments: Adjustments,
}
