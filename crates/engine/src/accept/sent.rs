//! The answer to an accepted send.

use domain::{
    Adjustments, Alphabet, Draft, Environment, Gateway, MessageId, Money, RecipientTexts,
};

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
    /// The time for which it is scheduled, Unix milliseconds; `None` if it is due at once.
    pub scheduled_for_ms: Option<i64>,
    /// The answer to a personalised send has more.
    pub personalised: Option<PersonalisedSent>,
}

/// The part of the answer that a personalised send alone has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PersonalisedSent {
    /// The pages of all recipients.
    pub pages_total: i64,
    /// Rows that were left out, since their number stood in a row before: the first of them.
    pub repeated: Vec<u32>,
}

impl PersonalisedSent {
    fn new(texts: &RecipientTexts) -> Self {
        Self {
            pages_total: texts.pages_total,
            repeated: texts.repeated.clone(),
        }
    }
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
            unicode: match &draft.texts {
                Some(texts) => texts.unicode,
                None => draft.text.alphabet() == Alphabet::Ucs2,
            },
            personalised: draft.texts.as_deref().map(PersonalisedSent::new),
            page_count: draft.page_count,
            invalid_recipients: draft.invalid.clone(),
            invalid_count: draft.invalid_count,
            adjustments: draft.adjustments.clone(),
            scheduled_for_ms: draft.due_at_ms,
        }
    }
}
