//! A receipt of a carrier.

use crate::deliveries::carrier_ids::page::PageRef;
use crate::deliveries::pending::PendingSettlement;
use domain::{DeliveryEvent, DeliveryStatus, Leg, Recipient};
use std::sync::Arc;

/// The status of a page in a receipt.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ReceiptStatus {
    /// An intermediate status: the carrier has the page.
    Pending,
    /// A final status.
    Final(DeliveryStatus),
}

impl ReceiptStatus {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Final(status) => status.as_str(),
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "pending" => Some(Self::Pending),
            name => DeliveryStatus::from_name(name).map(Self::Final),
        }
    }

    /// Returns the event that it means for this page of this leg.
    pub(super) fn event(self, leg: Leg, page: i64) -> DeliveryEvent {
        match self {
            Self::Pending => DeliveryEvent::Acknowledged { leg, page },
            Self::Final(DeliveryStatus::Delivered) => DeliveryEvent::PageDelivered { leg, page },
            Self::Final(status) => DeliveryEvent::Failed { leg, status },
        }
    }
}

/// A receipt in the terms of the domain.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Receipt {
    /// The carrier that sent it.
    pub carrier: Arc<str>,
    /// The carrier's id of the page, in the form that is stored for responses.
    pub carrier_id: String,
    /// A second id, if the receipt names two. The page has either.
    pub other_id: Option<String>,
    /// The recipient's number, as far as the receipt has one.
    pub recipient: Option<Recipient>,
    /// The sender ID of the message.
    pub sender: String,
    /// The status.
    pub status: ReceiptStatus,
    /// The carrier's error code.
    pub error: Option<String>,
    /// The short form of the receipt as it came ([`domain::RawReceipt`]), if it is to be kept.
    pub raw: Option<Vec<u8>>,
}

impl Receipt {
    /// Adds the events of its pages to a recipient.
    pub(super) fn add_events(&self, case: &mut PendingSettlement, pages: &[PageRef]) {
        let events = pages.iter();
        let events = events.map(|part| self.status.event(part.leg, part.page));
        case.events.extend(events);
        let raw = self.raw.iter();
        case.receipts
            .extend(raw.map(|raw| (Arc::clone(&self.carrier), raw.clone())));
        case.error = self.error.clone().or_else(|| case.error.take());
    }
}

/// A parked receipt.
pub(super) struct Parked {
    pub(super) received_at_ms: i64,
    pub(super) number: i64,
    pub(super) receipt: Receipt,
}
