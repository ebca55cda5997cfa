//! The dialect of an SMPP user.

/// The dialect of the program of an SMPP user: the statuses that it knows, and its default alphabet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Dialect {
    /// `true` if it understands the statuses 0x0400 to 0x0402 of refusals.
    pub vendor_statuses: bool,
    /// `true` if its `data_coding` 0 is Latin 1 in place of GSM 03.38.
    pub latin_1: bool,
}
