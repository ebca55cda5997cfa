//! Passkeys (Web Authentication): the relying party that they belong to, and their limits.

use crate::hex::hex;
use sha2::{Digest, Sha256};
use std::net::Ipv4Addr;

/// Maximum number of passkeys of a user.
pub const MAX_PASSKEYS: usize = 10;
/// The time that a user has to answer a challenge.
pub const CHALLENGE_MS: i64 = 5 * 60_000;
/// Maximum number of open challenges of sign-ins from one address. Many people share an address.
pub const MAX_OPEN_OF_CLIENT: i64 = 50;
/// Maximum number of open challenges.
pub const MAX_OPEN: i64 = 10_000;
/// Maximum length of the name of a passkey in characters.
pub const MAX_NAME_CHARACTERS: usize = 64;
/// Maximum length of a label of a domain, and of a domain.
const MAX_LABEL: usize = 63;
const MAX_DOMAIN: usize = 253;

/// The site that passkeys belong to. A browser gives a passkey to the pages of its domain alone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RelyingParty {
    id: String,
    origin: String,
}

impl RelyingParty {
    /// Returns the relying party of an origin, such as `https://sms.example.ng`. Browsers refuse
    /// passkeys without TLS, except for `localhost`, and those of an IP address. Then it is `None`.
    pub fn of(origin: &str) -> Option<Self> {
        let (scheme, authority) = origin.split_once("://")?;
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        };
        let is_secure = scheme == "https" || (scheme == "http" && host == "localhost");
        if !is_secure || !is_domain(host) {
            return None;
        }
        // An origin has no port that is the default one of its scheme.
        let default = if scheme == "https" { "443" } else { "80" };
        let port = match port {
            None => String::new(),
            Some(port) if port == default => String::new(),
            Some(port) => format!(":{}", port.parse::<u16>().ok()?),
        };
        Some(Self {
            id: host.to_owned(),
            origin: format!("{scheme}://{host}{port}"),
        })
    }

    /// Returns the id: the domain.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the origin of the pages that may use the passkeys.
    pub fn origin(&self) -> &str {
        &self.origin
    }
}

fn is_domain(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.len() <= MAX_DOMAIN && host.split('.').all(is_label) && host.parse::<Ipv4Addr>().is_err()
}

/// Returns the id of a passkey in lists, by the id that its authenticator made. Eight bytes of a
/// hash distinguish the passkeys of a user.
pub fn list_id(credential: &[u8]) -> String {
    hex(&Sha256::digest(credential)[..8])
}

/// Returns the name of a passkey without space around it, or `None` if it is empty or too long.
pub fn checked_name(name: &str) -> Option<String> {
    let name = name.trim();
    let is_fit = (1..=MAX_NAME_CHARACTERS).contains(&name.chars().count());
    is_fit.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relying_party_is_a_domain_with_tls_or_localhost() {
        for (given, expected) in [
            (
                "https://sms.example.ng",
                Some(("sms.example.ng", "https://sms.example.ng")),
            ),
            (
                "https://sms.example.ng:443",
                Some(("sms.example.ng", "https://sms.example.ng")),
            ),
            (
                "https://sms.example.ng:8443",
                Some(("sms.example.ng", "https://sms.example.ng:8443")),
            ),
            (
                "http://localhost:8080",
                Some(("localhost", "http://localhost:8080")),
            ),
            ("http://localhost", Some(("localhost", "http://localhost"))),
            (
                "http://localhost:80",
                Some(("localhost", "http://localhost")),
            ),
            ("http://sms.example.ng", None),
            ("https://203.0.113.9", None),
            ("http://127.0.0.1:8080", None),
            ("https://[2001:db8::1]", None),
            ("https://a..example.ng", None),
            ("https://", None),
            ("https://sms.example.ng:x", None),
            ("sms.example.ng", None),
        ] {
            let found = RelyingParty::of(given);
            let found = found.as_ref().map(|one| (one.id(), one.origin()));
            assert_eq!(found, expected, "{given}");
        }
        let long = format!("https://{}.ng", "a".repeat(64));
        assert_eq!(RelyingParty::of(&long), None);
    }

    #[test]
    fn a_passkey_has_a_name() {
        assert_eq!(checked_name(" Phone ").as_deref(), Some("Phone"));
        for wrong in ["", "  ", &"x".repeat(MAX_NAME_CHARACTERS + 1)] {
            assert_eq!(checked_name(wrong), None, "{wrong}");
        }
    }
}
