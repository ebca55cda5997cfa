//! The receipts of a load, over all its clients.

use crate::http::digits;
use smpp::codec::Sm;
use smpp::esm_class;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The word of a delivery in a receipt.
const DELIVERED: &[u8] = b"stat:DELIVRD";

/// The receipts that were received.
#[derive(Default)]
pub(crate) struct Receipts(Mutex<Received>);

#[derive(Default)]
struct Received {
    all: u64,
    recipients: HashSet<u64>,
    delivered: u64,
    last: Option<Instant>,
}

/// The numbers of receipts, of their recipients and of deliveries among them, and the time of the
/// last one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiptCount {
    pub(crate) all: u64,
    pub(crate) recipients: u64,
    pub(crate) delivered: u64,
    pub(crate) last: Option<Instant>,
}

impl Receipts {
    pub(crate) fn count(&self) -> ReceiptCount {
        let received = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ReceiptCount {
            all: received.all,
            recipients: received.recipients.len() as u64,
            delivered: received.delivered,
            last: received.last,
        }
    }

    /// Notes a `deliver_sm`. One that comes twice counts once as a recipient.
    pub(super) fn take(&self, message: &Sm<'_>, now: Instant) {
        let mut received = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        received.all += 1;
        let recipient = digits(message.source.digits);
        let is_receipt = message.esm_class & esm_class::TYPE_MASK == esm_class::RECEIPT;
        let recipient = recipient.filter(|_| is_receipt);
        if recipient.is_some_and(|recipient| received.recipients.insert(recipient)) {
            let mut words = message.short_message.windows(DELIVERED.len());
            received.delivered += u64::from(words.any(|word| word == DELIVERED));
            received.last = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smpp::codec::AddressFields;

    #[test]
    fn a_receipt_that_comes_twice_counts_once() {
        let message = Sm {
            source: AddressFields {
                ton: 1,
                npi: 1,
                digits: b"2348031234567",
            },
            esm_class: esm_class::RECEIPT,
            short_message: b"id:1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:a",
            ..Sm::default()
        };
        let receipts = Receipts::default();
        receipts.take(&message, Instant::now());
        receipts.take(&message, Instant::now());
        let count = receipts.count();
        assert_eq!((count.all, count.recipients, count.delivered), (2, 1, 1));
    }
}
