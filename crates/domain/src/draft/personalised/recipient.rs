//! A recipient of a personalised send.

use crate::money::Money;
use crate::number::recipient::Recipient;
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
    pub(super) text: Range<u32>,
    pub(super) customer_reference: Option<Box<str>>,
}
