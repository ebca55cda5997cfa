//! A recipient of a personalised send.

use crate::money::Money;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use crate::text::Alphabet;
use std::ops::Range;

/// A recipient with a text of its own.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PersonalisedRecipient {
    /// The number.
    pub recipient: Recipient,
    /// The number of the row, from 1.
    pub row: u32,
    /// The index of the preferred carrier in [`crate::Rulebook::carriers`].
    pub carrier: usize,
    /// `true` if the sender ID is appended to the text.
    pub suffixed: bool,
    /// The alphabet of the text without its suffix.
    pub alphabet: Alphabet,
    /// The number of pages, with the suffix.
    pub pages: i64,
    /// The charge of this recipient.
    pub charge: Money,
    /// The part of the charge that is refunded if a second leg is never submitted.
    pub reserve: Money,
    /// The part of the charge that the parent of a sub-account gets.
    pub margin: Money,
    pub(super) text: Range<u32>,
    pub(super) customer_reference: Option<Box<str>>,
}

/// Returns the largest number of pages of a recipient.
pub(super) fn largest_pages(recipients: &[PersonalisedRecipient]) -> i64 {
    let pages = recipients.iter().map(|recipient| recipient.pages);
    pages.max().unwrap_or(0)
}

/// Returns the pages of all recipients.
pub(super) fn all_pages(recipients: &[PersonalisedRecipient]) -> i64 {
    recipients.iter().map(|recipient| recipient.pages).sum()
}

/// Returns the charge of all recipients.
pub(super) fn total_cost(recipients: &[PersonalisedRecipient]) -> Result<Money, Refusal> {
    let mut charges = recipients.iter().map(|recipient| recipient.charge);
    charges
        .try_fold(Money::ZERO, Money::checked_add)
        .ok_or_else(|| {
            Refusal::Malformed("The cost of this send exceeds what can be counted.".to_owned())
        })
}
