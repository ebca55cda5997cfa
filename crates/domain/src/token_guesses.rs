//! Counts unknown tokens by client address and minute, against guessing.

use crate::refusal::Refusal;
use crate::refusal::seconds;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// Maximum number of addresses that are counted separately in a minute. Further ones share one
/// count, which bounds the memory under an attack. Valid tokens are not concerned.
pub const MAX_ADDRESSES: usize = 20_000;

const MINUTE_MS: i64 = 60_000;

/// The unknown tokens in one minute.
#[derive(Debug, Default)]
pub struct Guesses {
    minute: i64,
    counts: HashMap<IpAddr, u32>,
    /// The count of all addresses above the maximum.
    others: u32,
}

impl Guesses {
    /// Returns `true` if an address has made more than `limit` guesses in this minute.
    pub fn is_over(&self, client: IpAddr, limit: u32, now_ms: i64) -> bool {
        if now_ms.div_euclid(MINUTE_MS) != self.minute {
            return false;
        }
        let count = match self.counts.get(&counted_as(client)) {
            Some(count) => *count,
            None if self.counts.len() < MAX_ADDRESSES => 0,
            None => self.others,
        };
        count > limit
    }

    /// Counts an unknown token. Returns the refusal: invalid token, or too many of them above
    /// `limit` in a minute.
    pub fn unknown(&mut self, client: IpAddr, limit: u32, now_ms: i64) -> Refusal {
        let minute = now_ms.div_euclid(MINUTE_MS);
        if minute != self.minute {
            *self = Self {
                minute,
                ..Self::default()
            };
        }
        let client = counted_as(client);
        let count = if self.counts.len() < MAX_ADDRESSES || self.counts.contains_key(&client) {
            self.counts.entry(client).or_default()
        } else {
            &mut self.others
        };
        *count = count.saturating_add(1);
        if *count <= limit {
            return Refusal::TokenInvalid;
        }
        let left_ms = MINUTE_MS - now_ms.rem_euclid(MINUTE_MS);
        Refusal::TokensGuessed {
            retry_after_s: seconds(left_ms),
        }
    }
}

/// Returns the address by which a client is counted: the /64 network of an IPv6 address, because its
/// owner controls all of it.
pub(crate) fn counted_as(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u32 = 3;

    fn wait_s(guesses: &mut Guesses, client: &str, now_ms: i64) -> Option<u64> {
        match guesses.unknown(client.parse().unwrap(), LIMIT, now_ms) {
            Refusal::TokenInvalid => None,
            Refusal::TokensGuessed { retry_after_s } => Some(retry_after_s),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn beyond_the_limit_an_address_waits_for_the_next_minute() {
        let mut guesses = Guesses::default();
        let table = [
            ("8.8.8.8", 60_000, None),
            ("8.8.8.8", 61_000, None),
            ("::ffff:8.8.8.8", 61_000, None),
            ("8.8.8.8", 90_000, Some(30)),
            ("8.8.8.8", 119_999, Some(1)),
            ("9.9.9.9", 119_999, None),
            ("8.8.8.8", 120_000, None),
        ];
        for (client, now_ms, expected) in table {
            assert_eq!(
                wait_s(&mut guesses, client, now_ms),
                expected,
                "{client} {now_ms}"
            );
        }
    }

    #[test]
    fn an_address_is_over_its_limit_until_the_minute_ends() {
        let mut guesses = Guesses::default();
        let client: IpAddr = "8.8.8.8".parse().unwrap();
        for _ in 0..LIMIT {
            guesses.unknown(client, LIMIT, 60_000);
        }
        assert!(!guesses.is_over(client, LIMIT, 60_000));
        guesses.unknown(client, LIMIT, 61_000);
        assert!(guesses.is_over(client, LIMIT, 61_000));
        assert!(!guesses.is_over("9.9.9.9".parse().unwrap(), LIMIT, 61_000));
        assert!(!guesses.is_over(client, LIMIT, 120_000));
    }

    #[test]
    fn one_ipv6_network_is_one_address() {
        let mut guesses = Guesses::default();
        for host in 1..=LIMIT {
            assert_eq!(wait_s(&mut guesses, &format!("2a00::{host:x}"), 0), None);
        }
        assert_eq!(wait_s(&mut guesses, "2a00::ffff:0:0:1", 0), Some(60));
        assert_eq!(wait_s(&mut guesses, "2a00:0:0:1::1", 0), None);
    }

    #[test]
    fn the_number_of_counted_addresses_has_a_bound() {
        let mut guesses = Guesses::default();
        for bits in 0..u32::try_from(MAX_ADDRESSES).unwrap() + 5 {
            guesses.unknown(IpAddr::from(bits.to_be_bytes()), LIMIT, 0);
        }
        assert_eq!(guesses.counts.len(), MAX_ADDRESSES);
        assert_eq!(guesses.others, 5);
        // An address that is already counted separately stays so.
        assert_eq!(wait_s(&mut guesses, "0.0.0.1", 0), None);
        assert!(wait_s(&mut guesses, "8.8.8.8", 0).is_some());
    }
}
