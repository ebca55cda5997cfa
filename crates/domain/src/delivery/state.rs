//! The state of one recipient, and the events that change it.

use crate::leg::Leg;
use crate::named_enum;
use crate::page_set::PageSet;

named_enum! {
    /// Where the delivery to a recipient stands, as stored.
    pub enum DeliveryStatus {
        /// Taken by the carrier; no final outcome yet.
        Sent = "sent",
        /// Written to a connection, without a known response.
        InDoubt = "in_doubt",
        /// Delivered.
        Delivered = "delivrd",
        /// The carrier reports that it was not delivered.
        Undelivered = "undeliv",
        /// Validity passed, or no receipt in time.
        Expired = "expired",
        /// Refused by the carrier.
        Rejected = "rejectd",
        /// Anything else that will not be delivered.
        Failed = "failed",
    }
}

/// The word of the interface for a recipient without a final outcome.
pub const PENDING: &str = "sent awaiting status";

impl DeliveryStatus {
    /// Returns whether this is an outcome.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Sent | Self::InDoubt)
    }

    /// The word of the interface (section 2.4).
    pub const fn outside(self) -> &'static str {
        match self {
            Self::Sent | Self::InDoubt => PENDING,
            Self::Delivered | Self::Undelivered | Self::Expired | Self::Rejected | Self::Failed => {
                self.as_str()
            }
        }
    }
}

/// The state of one recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivery {
    /// Where it stands.
    pub status: DeliveryStatus,
    /// The last leg that was submitted.
    pub leg: Option<Leg>,
    /// Bit 0: the first leg failed; bit 1: the second did.
    pub failed_legs: i64,
    /// Pages of a leg.
    pub pages: i64,
    /// The delivered pages, by leg.
    pub delivered_pages: [PageSet; 2],
    /// The pages in doubt, by leg: it is not known whether a carrier has them.
    pub doubted_pages: [PageSet; 2],
    /// Expired because the wait ended, not because a carrier reported it.
    pub gave_up: bool,
}

impl Delivery {
    /// A recipient of which nothing has been submitted yet.
    pub const fn unsent(pages: i64) -> Self {
        Self {
            status: DeliveryStatus::Sent,
            leg: None,
            failed_legs: 0,
            pages,
            delivered_pages: [PageSet::EMPTY; 2],
            doubted_pages: [PageSet::EMPTY; 2],
            gave_up: false,
        }
    }

    /// Returns whether pages of that leg are in doubt.
    pub const fn doubts(&self, leg: Leg) -> bool {
        !self.doubted_pages[leg.index()].is_empty()
    }

    /// The first page of a leg that stays in doubt after these events.
    pub fn doubted_page(&self, leg: Leg, events: &[DeliveryEvent]) -> Option<i64> {
        let ended = events.iter().filter_map(|event| event.ends_doubt());
        let of_leg = ended.filter(|(of, _)| *of == leg);
        let left = of_leg.fold(self.doubted_pages[leg.index()], |left, (_, pages)| {
            left.without(pages)
        });
        left.first()
    }

    /// Returns the event of a response that names pages of a leg which receipts were taken to be about: each as it was
    /// guessed, and as it is.
    pub fn named(&self, leg: Leg, pages: &[(i64, i64)]) -> Option<DeliveryEvent> {
        let delivered = self.delivered_pages[leg.index()];
        // A guess at a page that was not delivered has only ended a doubt.
        let wrong = pages
            .iter()
            .filter(|(guessed, page)| guessed != page && delivered.contains(*guessed));
        let (guessed, named) = wrong.fold(
            (PageSet::EMPTY, PageSet::EMPTY),
            |(guessed, named), &(one, other)| {
                (
                    guessed.with(PageSet::of(one)),
                    named.with(PageSet::of(other)),
                )
            },
        );
        (!guessed.is_empty()).then_some(DeliveryEvent::PagesNamed {
            leg,
            guessed,
            named,
        })
    }

    pub(super) fn has_failed(&self, leg: Leg) -> bool {
        self.failed_legs & leg.bit() != 0
    }

    /// These pages of a leg are in doubt no longer.
    pub(super) fn end_doubt(&mut self, leg: Leg, pages: PageSet) {
        let doubted = &mut self.doubted_pages[leg.index()];
        *doubted = doubted.without(pages);
        self.recompute_status();
    }

    /// Without a final status it is in doubt as long as a page is.
    pub(super) fn recompute_status(&mut self) {
        if !self.status.is_final() {
            self.status = if self.doubted_pages == [PageSet::EMPTY; 2] {
                DeliveryStatus::Sent
            } else {
                DeliveryStatus::InDoubt
            };
        }
    }

    /// An outcome ends all doubt.
    pub(super) fn end(&mut self, status: DeliveryStatus) {
        self.status = status;
        self.doubted_pages = [PageSet::EMPTY; 2];
    }
}

/// The promises of the message's gateway.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terms {
    /// The charge goes back when the recipient is not delivered.
    pub refund_undelivered: bool,
    /// A second leg follows where the first fails (`dual-backup`).
    pub two_legs: bool,
}

/// An event of a recipient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeliveryEvent {
    /// The carrier took all pages of a leg.
    Submitted {
        /// Which leg.
        leg: Leg,
    },
    /// A leg was written to a connection, and its outcome is unknown.
    Doubted {
        /// Which leg.
        leg: Leg,
    },
    /// A receipt that is not final: the carrier has that page.
    Acknowledged {
        /// Which leg.
        leg: Leg,
        /// Which page, counted from 1.
        page: i64,
    },
    /// A receipt reports that a page of a leg is delivered.
    PageDelivered {
        /// Which leg.
        leg: Leg,
        /// Which page, counted from 1.
        page: i64,
    },
    /// Pages that receipts said were delivered are others: only the response tells which.
    PagesNamed {
        /// Which leg.
        leg: Leg,
        /// The pages that they were taken for.
        guessed: PageSet,
        /// The pages that they are.
        named: PageSet,
    },
    /// A leg has come to a bad end.
    Failed {
        /// Which leg.
        leg: Leg,
        /// Which end.
        status: DeliveryStatus,
    },
    /// A leg that waits is not to be sent any more.
    Cancelled {
        /// Which leg.
        leg: Leg,
    },
    /// The second leg was put back unsent: it was noted as submitted when it was claimed.
    PutBack,
    /// No outcome in time.
    GaveUp,
}

impl DeliveryEvent {
    /// Returns the leg and the pages whose doubt the event ends.
    pub(super) fn ends_doubt(self) -> Option<(Leg, PageSet)> {
        match self {
            Self::Submitted { leg } | Self::Failed { leg, .. } => Some((leg, PageSet::ALL)),
            Self::Acknowledged { leg, page } | Self::PageDelivered { leg, page } => {
                Some((leg, PageSet::of(page)))
            }
            Self::Doubted { .. }
            | Self::PagesNamed { .. }
            | Self::Cancelled { .. }
            | Self::PutBack
            | Self::GaveUp => None,
        }
    }
}

/// The amount that goes back to the wallet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refund {
    /// All that the recipient was charged.
    Charge,
    /// The reserve for a second leg that was never submitted.
    Reserve,
}

/// The result of an event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transition {
    /// The delivery after it.
    pub delivery: Delivery,
    /// The refund, if any.
    pub refund: Option<Refund>,
    /// The customer is called back with the outcome.
    pub callback: bool,
    /// The second leg goes out now.
    pub second_leg: bool,
}
