//! The decision on a recipient, and the name of a page on the wire.

use super::retry::Requeue;
use domain::DeliveryStatus;

/// The decision on a recipient that the carrier has answered for, or will not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Decision {
    /// The carrier took all pages; its ids, in order.
    Submitted(Vec<String>),
    /// Handed over, outcome unknown; sent once more as the batch says, if at all.
    Doubted(Option<Requeue>),
    /// It has come to a bad end.
    Ended(DeliveryStatus, String),
    /// It goes into a batch of its own.
    Requeue(Requeue),
    /// It goes out again as soon as there is room: the pages of it that the carrier has not taken.
    AtOnce,
    /// So do these, but from that steady time on, and behind what waits then.
    AtTime(i64),
}

/// Names one page on the wire.
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
        // Each part was widened by `number`, so cutting it off loses nothing.
        let part = |shift: u32, octets: u32| (number >> shift) & ((1 << (8 * octets)) - 1);
        Self {
            slot: u32::try_from(part(24, 4)).unwrap_or_default(),
            recipient: u16::try_from(part(8, 2)).unwrap_or_default(),
            page: u8::try_from(part(0, 1)).unwrap_or_default(),
        }
    }
}
