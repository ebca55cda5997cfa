//! The ids of top-ups.

use crate::ids::MessageId;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// The id of a top-up: a version 7 UUID, whose text is `top_up_id` in the API.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TopUpId(pub Uuid);

impl TopUpId {
    /// An id above the ids of all top-ups.
    pub const HIGHEST: Self = Self(Uuid::max());

    /// Creates the id of a top-up made at `now_ms` (Unix milliseconds).
    pub fn new(now_ms: i64, random: [u8; 10]) -> Self {
        Self(uuid::Builder::from_unix_timestamp_millis(now_ms.unsigned_abs(), &random).into_uuid())
    }

    /// Returns the id of a number.
    pub const fn from_number(number: u128) -> Self {
        Self(Uuid::from_u128(number))
    }

    /// Returns the number of the id, by which top-ups are ordered.
    pub const fn number(self) -> u128 {
        self.0.as_u128()
    }

    /// Returns the reference by which providers name the top-up.
    pub fn reference(self) -> String {
        format!("ogene-{}", self.0.simple())
    }

    /// Returns the subject of the ledger entries of the top-up.
    pub const fn subject(self) -> MessageId {
        MessageId(self.0)
    }
}

impl fmt::Display for TopUpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TopUpId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_id_parses_to_itself() {
        let id = TopUpId::new(1_801_414_800_000, [7; 10]);
        assert_eq!(id.to_string().parse(), Ok(id));
        let letters = id.reference();
        assert!(letters.len() == 38 && letters.starts_with("ogene-0"));
    }
}
