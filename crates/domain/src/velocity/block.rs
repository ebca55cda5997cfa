//! Blocks of a thousand numbers.

use crate::number::recipient::Recipient;
use std::fmt;
use std::str::FromStr;

/// Number of numbers in a block, which differ in their last three digits.
const NUMBERS: u64 = 1_000;
const HIDDEN: &str = "***";

/// A block: numbers that differ only in their last three digits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Block(u64);

/// The text is not a block.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a block is a number in international format without its last three digits, such as 2348031234"
)]
pub struct NotBlock;

impl Block {
    /// Returns the block of a number.
    pub const fn of(recipient: Recipient) -> Self {
        Self(recipient.digits() / NUMBERS)
    }

    /// Creates a block from digits that were checked earlier.
    pub const fn from_digits(digits: u64) -> Self {
        Self(digits)
    }

    /// Returns the common digits of the numbers.
    pub const fn digits(self) -> u64 {
        self.0
    }
}

/// The common digits with asterisks: `2348031234***`.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{HIDDEN}", self.0)
    }
}

impl FromStr for Block {
    type Err = NotBlock;

    /// Parses the displayed form, with or without the asterisks.
    fn from_str(text: &str) -> Result<Self, NotBlock> {
        let digits = text.strip_suffix(HIDDEN).unwrap_or(text);
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse() {
            Ok(digits) if is_plain && (10_000..1_000_000_000_000).contains(&digits) => {
                Ok(Self(digits))
            }
            _ => Err(NotBlock),
        }
    }
}
