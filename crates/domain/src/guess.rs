//! Guessing at tokens: how many unknown ones an address has named in the running minute.

use crate::refusal::Refusal;
use crate::refusal::seconds;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// Addresses counted apart. Further ones of the same minute are counted together, so that an attacker
/// with many addresses takes no more memory than this, and no valid token is ever concerned.
pub const MAX_ADDRESSES: usize = 20_000;

const MINUTE_MS: i64 = 60_000;

/// The unknown tokens of one minute of the clock.
#[derive(Debug, Default)]
pub struct Guesses {
    minute: i64,
    counts: HashMap<IpAddr, u32>,
    /// The guesses of all addresses that had no room.
    others: u32,
}

impl Guesses {
    /// Counts an unknown token, and says what it is told: that it is not valid, or, beyond `limit` in a minute,
    /// that there were too many.
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

/// The owner of one IPv6 address has the whole /64 around it.
fn counted_as(client: IpAddr) -> IpAddr {
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
    fn one_ipv6_network_is_one_address() {
        let mut guesses = Guesses::default();
        for host in 1..=LIMIT {
            assert_eq!(wait_s(&mut guesses, &format!("2a00::{host:x}"), 0), None);
        }
        assert_eq!(wait_s(&mut guesses, "2a00::ffff:0:0:1", 0), Some(60));
        assert_eq!(wait_s(&mut guesses, "2a00:0:0:1::1", 0), None);
    }

    #[test]
    fn many_addresses_take_no_more_than_their_room() {
        let mut guesses = Guesses::default();
        for bits in 0..u32::try_from(MAX_ADDRESSES).unwrap() + 5 {
            guesses.unknown(IpAddr::from(bits.to_be_bytes()), LIMIT, 0);
        }
        assert_eq!(guesses.counts.len(), MAX_ADDRESSES);
        assert_eq!(guesses.others, 5);
        // One that has its place keeps it.
        assert_eq!(wait_s(&mut guesses, "0.0.0.1", 0), None);
        assert!(wait_s(&mut guesses, "8.8.8.8", 0).is_some());
    }
}
