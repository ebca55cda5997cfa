//! The answer that a customer gets to an accepted send.

use domain::opt_out::LeftOut;
use domain::{
    Adjustments, Alphabet, Draft, Environment, Gateway, MessageId, Money, RecipientTexts,
};

/// The answer to an accepted send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// The id of the message.
    pub message_id: MessageId,
    /// The charge. In the sandbox, it is the charge of the same live send.
    pub cost: Money,
    /// The balance of the wallet after the charge. The sandbox has a simulated wallet.
    pub balance: Money,
    /// The number of recipients.
    pub recipients_count: usize,
    /// The gateway.
    pub gateway: Gateway,
    /// `true` if the text of a recipient is sent as Unicode.
    pub unicode: bool,
    /// The largest number of pages billed for one recipient.
    pub page_count: i64,
    /// The first entries of the request that are not valid recipients.
    pub invalid_recipients: Vec<String>,
    /// The number of entries that are not valid recipients.
    pub invalid_count: usize,
    /// Recipients that were left out.
    pub left_out: LeftOut,
    /// Parts of the request that were changed or ignored.
    pub adjustments: Adjustments,
    /// The due time, Unix milliseconds, or `None` if the message is due at once.
    pub scheduled_for_ms: Option<i64>,
    /// The additional part for a personalised send.
    pub personalised: Option<PersonalisedSent>,
}

/// The additional part of the answer to a personalised send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PersonalisedSent {
    /// The pages of all recipients.
    pub pages_total: i64,
    /// The first rows left out because their number is in an earlier row.
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
    /// Returns the answer to an accepted draft. `balance` is the balance after the charge.
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
            left_out: draft.left_out,
            adjustments: draft.adjustments.clone(),
            scheduled_for_ms: draft.due_at_ms,
        }
    }
}
