//! One-time links: they set an installation up, invite, reset a password, or open a demo.

use crate::named_enum;

named_enum! {
    /// The purpose of a one-time link.
    pub enum LinkPurpose {
        /// The link makes the first operator of an installation.
        SetUp = "set-up",
        /// The link makes the user a member of an account or an operator.
        Invitation = "invitation",
        /// The link lets the user choose a new password.
        Reset = "reset",
        /// The link signs in to a demo.
        Demo = "demo",
    }
}

impl LinkPurpose {
    /// Returns the time for which a link is good.
    pub const fn lifetime_ms(self) -> i64 {
        match self {
            Self::SetUp | Self::Reset => 30 * 60_000,
            Self::Invitation | Self::Demo => 7 * 24 * 3_600_000,
        }
    }
}

/// The state of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkState {
    /// The link can be used.
    Open,
    /// The link was used.
    Used,
    /// The link was not used in time.
    Expired,
}

impl LinkState {
    /// Returns the state at a time.
    pub const fn at(now_ms: i64, expires_at_ms: i64, used_at_ms: Option<i64>) -> Self {
        match used_at_ms {
            Some(_) => Self::Used,
            None if now_ms >= expires_at_ms => Self::Expired,
            None => Self::Open,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_open_until_it_is_used_or_expires() {
        for (now_ms, used_at_ms, expected) in [
            (0, None, LinkState::Open),
            (9, None, LinkState::Open),
            (10, None, LinkState::Expired),
            (9, Some(3), LinkState::Used),
            (10, Some(3), LinkState::Used),
        ] {
            assert_eq!(LinkState::at(now_ms, 10, used_at_ms), expected);
        }
    }
}
