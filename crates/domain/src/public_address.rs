//! The addresses that callbacks may go to.
//!
//! All of IANA's special-purpose addresses are refused (RFC 6890 and later additions), even
//! globally reachable ones, since no webhook is at a relay or DNS sink. From IPv6, only global
//! unicast is allowed, so ranges that are assigned later are refused until they are listed.

use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns `true` if an address is an ordinary one of the public internet.
///
/// An IPv4 address embedded in an IPv6 address is judged as IPv4 (`::ffff:0:0/96` and the
/// well-known translation prefix `64:ff9b::/96`). All other embeddings are refused, since they are
/// deprecated or not public: compatible addresses, 6to4, Teredo and local translation.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(address),
        },
    }
}

/// Special-purpose IPv4 ranges.
const SPECIAL_V4: [Ipv4Net; 18] = [
    v4(Ipv4Addr::UNSPECIFIED, 8),           // this network
    v4(Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    v4(Ipv4Addr::new(100, 64, 0, 0), 10),   // shared by carriers
    v4(Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    v4(Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, cloud metadata
    v4(Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    v4(Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    v4(Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    v4(Ipv4Addr::new(192, 31, 196, 0), 24), // AS112
    v4(Ipv4Addr::new(192, 52, 193, 0), 24), // multicast tunnelling
    v4(Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relay
    v4(Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    v4(Ipv4Addr::new(192, 175, 48, 0), 24), // AS112
    v4(Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarks
    v4(Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    v4(Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    v4(Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    v4(Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// IPv6 global unicast. Every other address is loopback, local, multicast, discard or unassigned.
const GLOBAL_UNICAST_V6: Ipv6Net = v6(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Special-purpose ranges within global unicast.
const SPECIAL_V6: [Ipv6Net; 5] = [
    v6(Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo
    v6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    v6(Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    v6(Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48), // AS112
    v6(Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

/// The well-known prefix of translation to IPv4 (RFC 6052).
const TRANSLATED_V4: Ipv6Net = v6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96);

const fn v4(network: Ipv4Addr, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(network, length)
}

const fn v6(network: Ipv6Addr, length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(network, length)
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !SPECIAL_V4.iter().any(|range| range.contains(&address))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let is_special = SPECIAL_V6.iter().any(|range| range.contains(&address));
    GLOBAL_UNICAST_V6.contains(&address) && !is_special
}

/// Returns the IPv4 address that is embedded in an IPv6 address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    address.to_ipv4_mapped().or_else(|| {
        let [.., a, b, c, d] = address.octets();
        let is_translated = TRANSLATED_V4.contains(&address);
        is_translated.then_some(Ipv4Addr::new(a, b, c, d))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn public(address: &str) -> bool {
        is_public(address.parse().unwrap())
    }

    #[test]
    fn special_purpose_ranges_are_refused_from_end_to_end() {
        let ranges = [
            "0.0.0.0-0.255.255.255",
            "10.0.0.0-10.255.255.255",
            "100.64.0.0-100.127.255.255",
            "127.0.0.0-127.255.255.255",
            "169.254.0.0-169.254.255.255",
            "172.16.0.0-172.31.255.255",
            "192.0.0.0-192.0.0.255",
            "192.0.2.0-192.0.2.255",
            "192.31.196.0-192.31.196.255",
            "192.52.193.0-192.52.193.255",
            "192.88.99.0-192.88.99.255",
            "192.168.0.0-192.168.255.255",
            "192.175.48.0-192.175.48.255",
            "198.18.0.0-198.19.255.255",
            "198.51.100.0-198.51.100.255",
            "203.0.113.0-203.0.113.255",
            "224.0.0.0-255.255.255.255",
            "::-::ffff:ffff",
            "64:ff9b:1::-64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
            "100::-100::ffff:ffff:ffff:ffff",
            "100:0:0:1::-100:0:0:1:ffff:ffff:ffff:ffff",
            "2001::-2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:2::-2001:2:0:ffff:ffff:ffff:ffff:ffff",
            "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            "2002::-2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "2620:4f:8000::-2620:4f:8000:ffff:ffff:ffff:ffff:ffff",
            "3fff::-3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
            "5f00::-5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "fc00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "fe80::-febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "fec0::-feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            "ff00::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ];
        for range in ranges {
            let (first, last) = range.split_once('-').unwrap();
            assert!(!public(first), "{first}");
            assert!(!public(last), "{last}");
        }
    }

    #[test]
    fn the_neighbours_of_special_ranges_are_public() {
        let neighbours = [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::",
            "2001:db7::",
            "2001:db9::",
            "2003::",
            "2620:4f:8001::",
            "3fff:1000::",
            "2a00::1",
        ];
        for address in neighbours {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn ipv4_inside_ipv6_is_judged_as_ipv4_or_refused() {
        let table = [
            ("::ffff:8.8.8.8", true),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::8.8.8.8", true),
            ("64:ff9b::10.0.0.1", false),
            ("::8.8.8.8", false),
            ("::127.0.0.1", false),
            ("::ffff:0:8.8.8.8", false),
            ("64:ff9b:1::8.8.8.8", false),
            ("2002:0808:0808::1", false),
            ("2002:7f00:0001::1", false),
        ];
        for (address, expected) in table {
            assert_eq!(public(address), expected, "{address}");
        }
    }

    proptest! {
        #[test]
        fn wrapping_never_makes_an_address_public(bits: u32) {
            let inner = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = inner.octets();
            let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
            for outer in [
                inner.to_ipv6_mapped(),
                inner.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            ] {
                prop_assert!(is_public(inner.into()) || !is_public(outer.into()));
            }
        }
    }
}
