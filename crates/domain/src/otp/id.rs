//! The ids of one-time passwords.

use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// The id of a one-time password: a version 7 UUID, whose text is `otp_id` in the API.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OtpId(pub Uuid);

impl OtpId {
    /// Creates the id of a one-time password created at `now_ms` (Unix milliseconds).
    pub fn new(now_ms: i64, random: [u8; 10]) -> Self {
        Self(uuid::Builder::from_unix_timestamp_millis(now_ms.unsigned_abs(), &random).into_uuid())
    }
}

impl fmt::Display for OtpId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for OtpId {
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
        let id = OtpId::new(1_801_414_800_000, [7; 10]);
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}
