//! Users of the console: people who sign in, their roles, sessions and one-time links.

pub mod link;
pub mod passkey;
pub mod password;
pub mod recovery;
pub mod role;
pub mod secret;
pub mod session;
pub mod slowing;
pub mod totp;

use crate::named_enum;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// Maximum length of an e-mail address in characters (RFC 5321).
const MAX_EMAIL_CHARACTERS: usize = 254;

/// The id of a user.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UserId(pub i64);

impl UserId {
    /// Creates an id that grows with time and cannot be guessed from others.
    pub fn new(now_ms: i64, random: u32) -> Self {
        Self((now_ms << 20) | i64::from(random & 0xF_FFFF))
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for UserId {
    type Err = ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

named_enum! {
    /// The status of a user.
    pub enum UserStatus {
        /// The user may sign in.
        Active = "active",
        /// The user was shut out, and has no session.
        Disabled = "disabled",
    }
}

/// Returns an e-mail address in the form by which users are found: in lower case, without space
/// around it. Returns `None` for a text that is no address.
pub fn normalised_email(text: &str) -> Option<String> {
    let email = text.trim().to_lowercase();
    let (name, host) = email.rsplit_once('@')?;
    let is_plain = |part: &str| {
        !part.is_empty() && !part.contains(|sign: char| sign.is_whitespace() || sign.is_control())
    };
    let is_address = is_plain(name)
        && is_plain(host)
        && !name.contains('@')
        && email.chars().count() <= MAX_EMAIL_CHARACTERS;
    is_address.then_some(email)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_form_whatever_its_case() {
        for (text, expected) in [
            (" Ada@Example.NG ", Some("ada@example.ng")),
            ("ada+sms@example.ng", Some("ada+sms@example.ng")),
            ("ADÉ@example.ng", Some("adé@example.ng")),
            ("ada", None),
            ("@example.ng", None),
            ("ada@", None),
            ("a da@example.ng", None),
            ("ada@exa\nmple.ng", None),
            ("ada@two@example.ng", None),
            ("", None),
        ] {
            assert_eq!(normalised_email(text).as_deref(), expected, "{text:?}");
        }
        let long = format!("{}@example.ng", "a".repeat(MAX_EMAIL_CHARACTERS));
        assert_eq!(normalised_email(&long), None);
    }
}
