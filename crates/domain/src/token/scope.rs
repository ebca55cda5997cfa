//! The scopes of a token: the requests that it may make (docs/spec/tokens.md, section 2).

use crate::named_enum;
use std::fmt;
use std::str::FromStr;

named_enum! {
    /// A part of the interface.
    pub enum Scope {
        /// Sends, quotes and one-time passwords, and changes of messages.
        Send = "send",
        /// Every read.
        Read = "read",
        /// Money: payments, alerts and transfers.
        Wallet = "wallet",
        /// The objects of the account: sender IDs, tokens, routes, users and sub-accounts.
        Manage = "manage",
    }
}

impl Scope {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Scopes(u8);

/// The reason why a text is no set of scopes.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("there is no scope of this name: the scopes are send, read, wallet and manage")]
pub struct NotScopes;

impl Scopes {
    /// Every scope.
    pub const ALL: Self = Self(0b1111);

    /// Returns the set of some scopes.
    pub const fn of(scopes: &[Scope]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < scopes.len() {
            bits |= scopes[at].bit();
            at += 1;
        }
        Self(bits)
    }

    /// Returns the set of some names. Without a name, it has every scope.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, NotScopes> {
        let names = names.into_iter().map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        let scopes = names.map(|name| Scope::from_name(&name.to_ascii_lowercase()));
        let scopes: Option<Vec<Scope>> = scopes.collect();
        match scopes.ok_or(NotScopes)?.as_slice() {
            [] => Ok(Self::ALL),
            scopes => Ok(Self::of(scopes)),
        }
    }

    /// Returns `true` if the sets have a scope in common.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns `true` if this set has every scope of another.
    pub const fn has_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the scopes.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        let all = Scope::ALL.iter().copied();
        all.filter(move |scope| self.0 & scope.bit() != 0)
    }
}

/// The default has every scope.
impl Default for Scopes {
    fn default() -> Self {
        Self::ALL
    }
}

/// The names in their order, separated by commas.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Scope::as_str).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Scopes {
    type Err = NotScopes;

    fn from_str(text: &str) -> Result<Self, NotScopes> {
        Self::named(text.split(','))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for (text, written) in [
            ("", "send,read,wallet,manage"),
            ("manage, send", "send,manage"),
            ("READ", "read"),
            ("read,read", "read"),
        ] {
            let scopes: Scopes = text.parse().unwrap();
            assert_eq!(scopes.to_string(), written, "{text}");
            assert_eq!(scopes.to_string().parse(), Ok(scopes), "{text}");
        }
        assert_eq!("send,admin".parse::<Scopes>(), Err(NotScopes));
    }

    #[test]
    fn sets_are_compared_by_their_scopes() {
        let (send, both) = (
            Scopes::of(&[Scope::Send]),
            Scopes::of(&[Scope::Send, Scope::Read]),
        );
        assert!(both.has_all(send) && !send.has_all(both));
        assert!(send.has_any(both) && !send.has_any(Scopes::of(&[Scope::Wallet])));
        assert!(Scopes::ALL.has_all(both));
    }
}
