//! The answer to an accepted send.

use domain::{Adjustments, Alphabet, Draft, Environment, Gateway, MessageId, Money};

/// The answer to an accepted send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// The id of the message.
    pub message_id: MessageId,
    /// The charge. For the sandbox, the charge that a live send would have.
    pub cost: Money,
    /// The balance of the wallet; in the sandbox, the simulated wallet.
    pub balance: Money,
    /// The number of recipients.
    pub recipients_count: usize,
    /// The gateway used.
    pub gateway: Gateway,
    /// `true` if it is sent as Unicode.
    pub unicode: bool,
    /// The largest number of pages billed for one recipient.
    pub page_count: i64,
    /// The first list entries that are not valid recipients.
    pub invalid_recipients: Vec<String>,
    /// The number of all such entries.
    pub invalid_count: usize,
    /// Parts of the request that were changed or ignored.
    pub adjustments: Adjustments,
}

impl Sent {
    /// The answer to an accepted draft, with the balance after its charge.
    pub(crate) fn new(draft: &Draft, message_id: MessageId, balance: Money) -> Self {
        let balance = match draft.environment {
            Environment::Live => balance,
            Environment::Sandbox => crate::admit::sandbox::purse().total(),
        };
        Self {
            message_id,
            cost: draft.cost,
            balance,
            recipients_count: draft.recipients.len(),
            gateway: draft.gateway,
            unicode: draft.text.alphabet() == Alphabet::Ucs2,
            page_count: draft.page_count,
            invalid_recipients: draft.invalid.clone(),
            invalid_count: draft.invalid_count,
            adjustments: draft.adjustments.clone(),
        }
    }
}
