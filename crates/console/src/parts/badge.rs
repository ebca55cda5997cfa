//! A status: a colour, a mark and a word.

use askama::Template;
use domain::{DeliveryStatus, SenderStatus};

/// The weight of a status or notice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// It succeeded.
    Good,
    /// It failed.
    Bad,
    /// It needs attention.
    Warning,
    /// It is under way.
    Waiting,
    /// It has no weight.
    Plain,
}

impl Tone {
    /// Returns the class of the style sheet.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Warning => "warning",
            Self::Waiting => "waiting",
            Self::Plain => "plain",
        }
    }
}

/// A status as a coloured mark with a word.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/badge.html")]
pub struct Badge {
    /// The colour.
    pub tone: Tone,
    /// The word.
    pub text: String,
}

impl Badge {
    /// Returns a badge.
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        Self {
            tone,
            text: text.into(),
        }
    }

    /// Returns the badge of a recipient's status.
    pub fn of_delivery(status: DeliveryStatus) -> Self {
        let (tone, text) = match status {
            DeliveryStatus::Sent => (Tone::Waiting, "Sent"),
            DeliveryStatus::InDoubt => (Tone::Warning, "In doubt"),
            DeliveryStatus::Delivered => (Tone::Good, "Delivered"),
            DeliveryStatus::Undelivered => (Tone::Bad, "Undelivered"),
            DeliveryStatus::Expired => (Tone::Bad, "Expired"),
            DeliveryStatus::Rejected => (Tone::Bad, "Rejected"),
            DeliveryStatus::Failed => (Tone::Bad, "Failed"),
            DeliveryStatus::Cancelled => (Tone::Warning, "Cancelled"),
        };
        Self::new(tone, text)
    }

    /// Returns the badge of a sender ID's status.
    pub fn of_sender(status: SenderStatus) -> Self {
        let (tone, text) = match status {
            SenderStatus::Approved => (Tone::Good, "Approved"),
            SenderStatus::Pending => (Tone::Waiting, "Pending"),
            SenderStatus::Rejected => (Tone::Bad, "Rejected"),
            SenderStatus::Suspended => (Tone::Warning, "Suspended"),
        };
        Self::new(tone, text)
    }
}
