//! A page with its carrier id.

use domain::{Bucket, Leg, MessageId, Recipient};

/// A page that has a carrier id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PageRef {
    /// The bucket of its delivery.
    pub(crate) home: Bucket,
    pub(crate) message: MessageId,
    pub(crate) recipient: Recipient,
    pub(crate) leg: Leg,
    pub(crate) page: i64,
    /// Start of the hour of submission, Unix milliseconds.
    pub(crate) hour_ms: i64,
    /// `true` if a receipt adopted the page without naming it. The response is more reliable,
    /// should it still arrive.
    pub(crate) is_guess: bool,
}

impl PageRef {
    /// Returns the key of its delivery.
    pub(crate) fn delivery(&self) -> (Bucket, MessageId, Recipient) {
        (self.home, self.message, self.recipient)
    }
}

/// A page under its carrier id.
pub(crate) struct NamedPage<'a> {
    pub(crate) carrier: &'a str,
    pub(crate) id: &'a str,
    pub(crate) part: PageRef,
}

/// A carrier and one of its ids.
pub(super) type Id<'r> = (&'r str, &'r str);
