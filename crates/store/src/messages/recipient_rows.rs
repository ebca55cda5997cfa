//! A recipient of a message as readers get it, and its stored delivery.

use crate::rows::{message_id, named, recipient};
use database::Result;
use domain::{DeliveryStatus, Leg, MessageId, Money, Recipient};

/// A recipient of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientInfo {
    /// Its place in the list of the message, from 0.
    pub place: usize,
    /// The recipient.
    pub recipient: Recipient,
    /// Its delivery, or `None` while no carrier has answered.
    pub delivery: Option<DeliveryInfo>,
    /// The refunds.
    pub refunded: Money,
}

/// The delivery of a recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeliveryInfo {
    /// The status.
    pub status: DeliveryStatus,
    /// The last leg that was submitted, or `None` if the recipient ended before.
    pub leg: Option<Leg>,
    /// The pages of the text.
    pub pages: i64,
    /// The charge.
    pub charge: Money,
    /// The last carrier.
    pub carrier: String,
    /// The error code of the carrier, or our own.
    pub error: Option<String>,
    /// Time of the first result, Unix milliseconds.
    pub submitted_at_ms: i64,
    /// Time of the final status, Unix milliseconds.
    pub settled_at_ms: Option<i64>,
}

pub(super) struct DeliveryRow {
    message_id: Vec<u8>,
    recipient: i64,
    status: String,
    leg: i64,
    pages: i64,
    charge: i64,
    carrier: String,
    error: Option<String>,
    submitted_at_s: i64,
    settled_at_s: Option<i64>,
}

database::from_row!(DeliveryRow {
    message_id,
    recipient,
    status,
    leg,
    pages,
    charge,
    carrier,
    error,
    submitted_at_s,
    settled_at_s
});

impl DeliveryRow {
    /// Returns the message, the recipient and the delivery.
    pub(super) fn read(self) -> Result<(MessageId, Recipient, DeliveryInfo)> {
        let delivery = DeliveryInfo {
            status: named(DeliveryStatus::from_name, &self.status)?,
            leg: Leg::from_number(self.leg),
            pages: self.pages,
            charge: Money::from_units(self.charge),
            carrier: self.carrier,
            error: self.error,
            submitted_at_ms: 1_000 * self.submitted_at_s,
            settled_at_ms: self.settled_at_s.map(|at_s| 1_000 * at_s),
        };
        let message = message_id(&self.message_id)?;
        Ok((message, recipient(self.recipient), delivery))
    }
}
