//! A recipient whose events are not applied yet.

use crate::deliveries::doubts::Doubts;
use domain::{Bucket, Delivery, DeliveryEvent, Leg, MessageId, Money, Recipient};
use std::sync::Arc;

/// A receipt of a carrier, in its short form.
pub(crate) type PackedReceipt = (Arc<str>, Vec<u8>);

/// A recipient and its events.
#[derive(Clone, Debug)]
pub(crate) struct PendingSettlement {
    pub(crate) bucket: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    /// `true` if a delivery row exists.
    pub(crate) stored: bool,
    /// `true` if the batch was lost before. Without a delivery row, no event applies then.
    pub(crate) late: bool,
    pub(crate) delivery: Delivery,
    pub(crate) suffixed: bool,
    pub(crate) charge: Money,
    pub(crate) reserve: Money,
    pub(crate) carrier: String,
    /// The carriers with which it is in doubt.
    pub(crate) doubts: Doubts,
    pub(crate) error: Option<String>,
    pub(crate) events: Vec<DeliveryEvent>,
    /// The receipts of the events, to be kept if they change anything.
    pub(crate) receipts: Vec<PackedReceipt>,
}

impl PendingSettlement {
    /// Returns the key of its delivery.
    pub(crate) fn key(&self) -> (Bucket, MessageId, Recipient) {
        (self.bucket, self.message, self.recipient)
    }

    /// Returns the stored case with the new events.
    pub(crate) fn with_events_of(mut self, joined: Self) -> Self {
        self.doubts.join(joined.doubts);
        Self {
            carrier: joined.carrier,
            error: joined.error,
            events: joined.events,
            receipts: joined.receipts,
            ..self
        }
    }

    /// Returns `true` if the only event is that a carrier accepted a new recipient.
    pub(crate) fn is_taken_at_once(&self) -> bool {
        !self.stored && matches!(self.events[..], [DeliveryEvent::Submitted { .. }])
    }

    /// Returns `true` if it is a refusal that this node reported late, after others continued.
    pub(crate) fn is_refused_late(&self, delivery: &Delivery) -> bool {
        let is_over = |event: &DeliveryEvent| match event {
            DeliveryEvent::Failed { leg, .. } => !delivery.doubts(*leg),
            _ => false,
        };
        self.late && self.events.iter().all(is_over)
    }

    /// Returns the first page of a leg in doubt with a carrier. It is a guess, because a receipt
    /// without its response does not name its page.
    pub(crate) fn doubted_page(&self, carrier: &str) -> Option<(Leg, i64)> {
        let mut legs = Leg::ALL.into_iter();
        legs.find_map(|leg| {
            let page = self.delivery.doubted_page(leg, &self.events)?;
            self.doubts.contain(leg, carrier).then_some((leg, page))
        })
    }
}
