//! A message without its recipients, as it is stored.

use crate::rows::{environment, message_id, named};
use database::Result;
use domain::{AccountId, Environment, Gateway, MessageId, Money, recipient_list};

/// A message without its recipients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MessageInfo {
    /// The message.
    pub id: MessageId,
    /// The account.
    pub account: AccountId,
    /// The environment.
    pub environment: Environment,
    /// Time from which it may be sent, Unix milliseconds, if that was later than its acceptance.
    pub due_at_ms: Option<i64>,
    /// The time of its pause, if it is paused.
    pub paused_at_ms: Option<i64>,
    /// The length of earlier pauses, by which a resume moved the due time.
    pub paused_for_ms: i64,
    /// `true` if it was cancelled, in whole or in part.
    pub was_cancelled: bool,
    /// The last pauses and resumes, as stored.
    pub changes: Option<String>,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The sender ID.
    pub sender: String,
    /// The prepared text without suffix. It is empty once retention removed it, and in personalised
    /// messages and one-time passwords.
    pub body: String,
    /// `true` if each recipient has a text of its own, which retention did not remove yet.
    pub is_personalised: bool,
    /// The caller's own reference.
    pub customer_reference: Option<String>,
    /// The charge.
    pub cost: Money,
    /// The pages of the longest form of the text.
    pub page_count: i64,
    /// The pages of all recipients.
    pub pages_total: i64,
    /// The number of recipients.
    pub recipients: u64,
}

/// Returns how many numbers a packed list of so many octets holds.
pub(super) fn count(octets: i64) -> u64 {
    octets.unsigned_abs() / recipient_list::WIDTH as u64
}

pub(super) struct MessageRow {
    message_id: Vec<u8>,
    account_id: i64,
    sandbox: bool,
    due_at_ms: Option<i64>,
    paused_at_ms: Option<i64>,
    paused_for_ms: Option<i64>,
    cancelled_at_ms: Option<i64>,
    changes: Option<String>,
    gateway: String,
    sender: String,
    body: String,
    is_personalised: bool,
    customer_reference: Option<String>,
    cost: i64,
    pages: i64,
    pages_total: i64,
    octets: i64,
}

database::from_row!(MessageRow {
    message_id,
    account_id,
    sandbox,
    due_at_ms,
    paused_at_ms,
    paused_for_ms,
    cancelled_at_ms,
    changes,
    gateway,
    sender,
    body,
    is_personalised,
    customer_reference,
    cost,
    pages,
    pages_total,
    octets
});

impl MessageRow {
    pub(super) fn message(self) -> Result<MessageInfo> {
        Ok(MessageInfo {
            id: message_id(&self.message_id)?,
            account: AccountId(self.account_id),
            environment: environment(self.sandbox),
            due_at_ms: self.due_at_ms,
            paused_at_ms: self.paused_at_ms,
            paused_for_ms: self.paused_for_ms.unwrap_or_default(),
            was_cancelled: self.cancelled_at_ms.is_some(),
            changes: self.changes,
            gateway: named(Gateway::from_name, &self.gateway)?,
            sender: self.sender,
            body: self.body,
            is_personalised: self.is_personalised,
            customer_reference: self.customer_reference,
            cost: Money::from_units(self.cost),
            page_count: self.pages,
            pages_total: self.pages_total,
            recipients: count(self.octets),
        })
    }
}
