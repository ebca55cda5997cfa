//! The state of one recipient, and the events that change it.

use crate::leg::Leg;
use crate::named_enum;
use crate::page_set::PageSet;

named_enum! {
    /// The status of a recipient, as stored.
    pub enum DeliveryStatus {
        /// Accepted by the carrier, without a final status.
        Sent = "sent",
        /// Written to a connection, without a known response.
        InDoubt = "in_doubt",
        /// Delivered.
        Delivered = "delivrd",
        /// The carrier reports that it was not delivered.
        Undelivered = "undeliv",
        /// The validity is over, or no receipt came in time.
        Expired = "expired",
        /// Rejected by the carrier.
        Rejected = "rejectd",
        /// Not deliverable for any other reason.
        Failed = "failed",
        /// Cancelled before a carrier had it.
        Cancelled = "cancelled",
    }
}

/// The name in the API for a recipient without a final status.
pub const PENDING: &str = "sent awaiting status";

impl DeliveryStatus {
    /// Returns `true` if the status is final.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Sent | Self::InDoubt)
    }

    /// Returns the name of the status in the API (section 2.4).
    pub const fn outside(self) -> &'static str {
        match self {
            Self::Sent | Self::InDoubt => PENDING,
            Self::Delivered
            | Self::Undelivered
            | Self::Expired
            | Self::Rejected
            | Self::Failed
            | Self::Cancelled => self.as_str(),
        }
    }
}

/// The state of one recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivery {
    /// The status.
    pub status: DeliveryStatus,
    /// The last leg that was submitted.
    pub leg: Option<Leg>,
    /// The failed legs: bit 0 for the first, bit 1 for the second.
    pub failed_legs: i64,
    /// The number of pages of a leg.
    pub pages: i64,
    /// The delivered pages, by leg.
    pub delivered_pages: [PageSet; 2],
    /// The pages in doubt, by leg.
    pub doubted_pages: [PageSet; 2],
    /// `true` if we expired the recipient because no receipt came.
    pub gave_up: bool,
}

impl Delivery {
    /// Returns the state of a recipient without any submit.
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

    /// Returns `true` if pages of that leg are in doubt.
    pub const fn doubts(&self, leg: Leg) -> bool {
        !self.doubted_pages[leg.index()].is_empty()
    }

    /// Returns the first page of a leg that is still in doubt after these events.
    pub fn doubted_page(&self, leg: Leg, events: &[DeliveryEvent]) -> Option<i64> {
        let ended = events.iter().filter_map(|event| event.ends_doubt());
        let of_leg = ended.filter(|(of, _)| *of == leg);
        let left = of_leg.fold(self.doubted_pages[leg.index()], |left, (_, pages)| {
            left.without(pages)
        });
        left.first()
    }

    /// Returns the event of a response whose message ids differ from the guesses of earlier
    /// receipts. `pages` has the guessed and the real page of each receipt.
    pub fn named(&self, leg: Leg, pages: &[(i64, i64)]) -> Option<DeliveryEvent> {
        let delivered = self.delivered_pages[leg.index()];
        // A guess at a page that was not delivered has only ended its doubt.
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

    /// Ends the doubt of these pages of a leg.
    pub(super) fn end_doubt(&mut self, leg: Leg, pages: PageSet) {
        let doubted = &mut self.doubted_pages[leg.index()];
        *doubted = doubted.without(pages);
        self.recompute_status();
    }

    /// Sets the status to in doubt while a page is, unless it is final.
    pub(super) fn recompute_status(&mut self) {
        if !self.status.is_final() {
            self.status = if self.doubted_pages == [PageSet::EMPTY; 2] {
                DeliveryStatus::Sent
            } else {
                DeliveryStatus::InDoubt
            };
        }
    }

    /// Sets a final status, which ends all doubt.
    pub(super) fn end(&mut self, status: DeliveryStatus) {
        self.status = status;
        self.doubted_pages = [PageSet::EMPTY; 2];
    }
}

/// The terms of the message's gateway.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terms {
    /// `true` if the charge of an undelivered recipient is refunded.
    pub refund_undelivered: bool,
    /// `true` if a second leg follows a failed first one (`dual-backup`).
    pub two_legs: bool,
}

/// An event of a recipient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DeliveryEvent {
    /// The carrier accepted all pages of a leg.
    Submitted {
        /// The leg.
        leg: Leg,
    },
    /// A leg was written to a connection, and its outcome is unknown.
    Doubted {
        /// The leg.
        leg: Leg,
    },
    /// An intermediate receipt, which proves that the carrier has the page.
    Acknowledged {
        /// The leg.
        leg: Leg,
        /// The page, counted from 1.
        page: i64,
    },
    /// A receipt reports the delivery of a page.
    PageDelivered {
        /// The leg.
        leg: Leg,
        /// The page, counted from 1.
        page: i64,
    },
    /// The response shows that receipts were assigned to the wrong pages.
    PagesNamed {
        /// The leg.
        leg: Leg,
        /// The guessed pages.
        guessed: PageSet,
        /// The real pages.
        named: PageSet,
    },
    /// A leg has failed.
    Failed {
        /// The leg.
        leg: Leg,
        /// The final status.
        status: DeliveryStatus,
    },
    /// A waiting leg must no longer be sent.
    Cancelled {
        /// The leg.
        leg: Leg,
        /// The final status of a recipient without any submit.
        status: DeliveryStatus,
    },
    /// The second leg was put back unsent. Its claim had recorded it as submitted.
    PutBack,
    /// No final status came in time.
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

/// The refund.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refund {
    /// The whole charge of the recipient.
    Charge,
    /// The reserve for a second leg that was never submitted.
    Reserve,
}

/// The result of an event.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Transition {
    /// The new state of the recipient.
    pub delivery: Delivery,
    /// The refund, if any.
    pub refund: Option<Refund>,
    /// `true` if the customer gets a callback.
    pub callback: bool,
    /// `true` if the second leg must be sent now.
    pub second_leg: bool,
}
