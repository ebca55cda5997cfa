//! The limits of a token (docs/spec/tokens.md, section 1).

use super::scope::Scopes;
use crate::client_address::AllowList;
use crate::refusal::Refusal;
use std::net::IpAddr;

/// The limits of a token: its expiry, addresses, scopes and rate.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TokenTerms {
    /// The expiry, Unix milliseconds, or `None`.
    pub expires_at_ms: Option<i64>,
    /// The allowed addresses.
    pub allowed: AllowList,
    /// The requests that it may make.
    pub scopes: Scopes,
    /// The maximum number of requests in any 60 seconds, beside the limits of the account.
    pub per_minute: Option<u32>,
}

impl TokenTerms {
    /// Checks the token for a request of `client` at `now_ms`. An expired token counts as unknown
    /// from any address.
    pub fn check(&self, client: IpAddr, now_ms: i64) -> Result<(), Refusal> {
        if self.expires_at_ms.is_some_and(|expires| now_ms >= expires) {
            return Err(Refusal::TokenInvalid);
        }
        if !self.allowed.allows(client) {
            return Err(Refusal::AddressNotAllowed(client));
        }
        Ok(())
    }

    /// Checks the token for a request that one of these scopes permits.
    pub fn check_scope(&self, permitting: Scopes) -> Result<(), Refusal> {
        if self.scopes.has_any(permitting) {
            Ok(())
        } else {
            Err(Refusal::OutOfScope(permitting))
        }
    }

    /// Returns `true` if a token with other terms permits nothing more than this one.
    pub fn covers(&self, other: &Self) -> bool {
        let within = |own: Option<i64>, other: Option<i64>| match (own, other) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(own), Some(other)) => other <= own,
        };
        within(self.expires_at_ms, other.expires_at_ms)
            && within(
                self.per_minute.map(i64::from),
                other.per_minute.map(i64::from),
            )
            && self.allowed.covers(&other.allowed)
            && self.scopes.has_all(other.scopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_until_it_expires_and_from_its_addresses() {
        let terms = |expires_at_ms, allowed: &str| TokenTerms {
            expires_at_ms,
            allowed: allowed.parse().unwrap(),
            ..TokenTerms::default()
        };
        let client: IpAddr = "203.0.113.9".parse().unwrap();
        let elsewhere = Err(Refusal::AddressNotAllowed(client));
        let table = [
            (terms(None, ""), Ok(())),
            (terms(Some(1_001), "203.0.113.0/24"), Ok(())),
            (terms(Some(1_000), ""), Err(Refusal::TokenInvalid)),
            (terms(Some(999), "10.0.0.0/8"), Err(Refusal::TokenInvalid)),
            (terms(Some(1_001), "10.0.0.0/8"), elsewhere.clone()),
            (terms(None, "203.0.113.8,2001:db8::/32"), elsewhere),
        ];
        for (terms, expected) in table {
            assert_eq!(terms.check(client, 1_000), expected, "{terms:?}");
        }
    }
}
