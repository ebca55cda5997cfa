//! The decision on a recipient after its submit, and the tag of a page on the wire.

use super::retry::Requeue;
use domain::DeliveryStatus;

/// The decision on a recipient after all its pages have an outcome.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Decision {
    /// The carrier accepted all pages. The list has its message ids in the order of the pages.
    Submitted(Vec<String>),
    /// The recipient is in doubt: it was written to a connection, and the outcome is unknown. It
    /// is resent if its gateway allows that.
    InDoubt(Option<Requeue>),
    /// The recipient has its final status.
    Ended(DeliveryStatus, String),
    /// The recipient is moved to a batch of its own.
    Requeue(Requeue),
    /// The pages that are not accepted yet are submitted again at once.
    ResubmitNow,
    /// The same pages are submitted again at that steady time.
    ResubmitAt(i64),
}

/// Identifies one page of a recipient in the events of a connection.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Tag {
    pub(crate) slot: u32,
    pub(crate) recipient: u16,
    pub(crate) page: u8,
}

impl Tag {
    pub(crate) fn number(self) -> u64 {
        u64::from(self.slot) << 24 | u64::from(self.recipient) << 8 | u64::from(self.page)
    }

    pub(crate) fn from_number(number: u64) -> Self {
        // `number` widened each part, so the cut loses nothing.
        let part = |shift: u32, octets: u32| (number >> shift) & ((1 << (8 * octets)) - 1);
        Self {
            slot: u32::try_from(part(24, 4)).unwrap_or_default(),
            recipient: u16::try_from(part(8, 2)).unwrap_or_default(),
            page: u8::try_from(part(0, 1)).unwrap_or_default(),
        }
    }
}
