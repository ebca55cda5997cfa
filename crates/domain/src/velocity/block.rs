//! Blocks of a thousand numbers.

use crate::number::recipient::Recipient;
use std::fmt;
use std::str::FromStr;

/// Numbers in a block: they differ in their last three digits.
const NUMBERS: u64 = 1_000;
const HIDDEN: &str = "***";

/// The numbers that are the same but for their last three digits: in Nigeria, the country code and seven digits.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Block(u64);

/// A text that names no block.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a block is a number in international format without its last three digits, such as 2348031234"
)]
pub struct NotBlock;

impl Block {
    /// The block in which a number lies.
    pub const fn of(recipient: Recipient) -> Self {
        Self(recipient.digits() / NUMBERS)
    }

    /// The block of digits that were read and checked earlier.
    pub const fn from_digits(digits: u64) -> Self {
        Self(digits)
    }

    /// The digits that its numbers have in common.
    pub const fn digits(self) -> u64 {
        self.0
    }
}

/// With the digits that are missing as asterisks: `2348031234***`.
impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{HIDDEN}", self.0)
    }
}

impl FromStr for Block {
    type Err = NotBlock;

    /// As it is displayed, or without the asterisks.
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
