//! The client address of a request: address ranges and trusted proxies.

use ipnet::{IpNet, Ipv4Net};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Length of the prefix of IPv6 addresses that embed IPv4 (`::ffff:0:0/96`).
const MAPPED_PREFIX: u8 = 96;

/// A range of addresses with a common prefix, such as `203.0.113.0/24`, or a single address.
///
/// An IPv4 address embedded in IPv6 (`::ffff:0:0/96`) counts as IPv4, since its form depends only
/// on how the server listens.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct AddressRange(IpNet);

/// The reason why a text is no range.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotRange {
    /// The text does not have the form of an address or range.
    #[error("`{0}` is neither an IP address nor a range such as 203.0.113.0/24 or 2001:db8::/48")]
    Form(String),
    /// The address has bits after the prefix. The address or the length may be a typing error.
    #[error("`{0}` has bits behind its prefix: the range begins at {1}")]
    Bits(String, IpAddr),
}

impl AddressRange {
    /// Returns `true` if the range contains an address.
    pub fn holds(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// Returns a range of mapped addresses as IPv4, or `None` if it contains other addresses too.
fn canonical(range: IpNet) -> Option<IpNet> {
    match (range, range.addr().to_canonical()) {
        (IpNet::V6(range), IpAddr::V4(address)) => {
            let length = range.prefix_len().checked_sub(MAPPED_PREFIX)?;
            Some(Ipv4Net::new(address, length).ok()?.into())
        }
        _ => Some(range),
    }
}

impl FromStr for AddressRange {
    type Err = NotRange;

    fn from_str(text: &str) -> Result<Self, NotRange> {
        let written = if text.contains('/') {
            text.parse().ok()
        } else {
            text.parse().ok().map(|address: IpAddr| address.into())
        };
        let range = written.and_then(canonical);
        let range = range.ok_or_else(|| NotRange::Form(text.to_owned()))?;
        if range == range.trunc() {
            Ok(Self(range))
        } else {
            Err(NotRange::Bits(text.to_owned(), range.network()))
        }
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.prefix_len() == self.0.max_prefix_len() {
            self.0.addr().fmt(f)
        } else {
            self.0.fmt(f)
        }
    }
}

/// The allowed ranges. An empty list allows every address.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AllowList(pub Vec<AddressRange>);

impl AllowList {
    /// Returns `true` if an address is allowed.
    pub fn allows(&self, address: IpAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|range| range.holds(address))
    }

    /// Returns `true` if every address that another list allows is in one range of this one.
    pub fn covers(&self, other: &Self) -> bool {
        let is_within =
            |range: &AddressRange| self.0.iter().any(|wider| wider.0.contains(&range.0));
        self.0.is_empty() || (!other.0.is_empty() && other.0.iter().all(is_within))
    }
}

/// The ranges separated by commas, as they are stored and shown.
impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, range) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{range}")?;
        }
        Ok(())
    }
}

impl FromStr for AllowList {
    type Err = NotRange;

    fn from_str(text: &str) -> Result<Self, NotRange> {
        let ranges = text.split(',').filter(|range| !range.is_empty());
        ranges.map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

/// Returns the client of a request: the peer of the connection, or the address that trusted proxies
/// add to `X-Forwarded-For`. The lines of the header are in their original order.
///
/// Each proxy appends its peer, so the list is read from the right. It ends at the first untrusted
/// address, because the rest may be forged. A word that is no address also ends it, and then the
/// last proxy counts as the client.
pub fn client<'a>(
    peer: IpAddr,
    forwarded_for: impl DoubleEndedIterator<Item = &'a str>,
    trusted: &[AddressRange],
) -> IpAddr {
    let mut client = peer.to_canonical();
    let mut named = forwarded_for.rev().flat_map(|line| line.rsplit(','));
    while trusted.iter().any(|range| range.holds(client)) {
        match named.next().and_then(|word| forwarded(word.trim())) {
            Some(address) => client = address,
            None => break,
        }
    }
    client
}

/// Parses an address as proxies write it: with or without a port, and IPv6 with a port in brackets.
fn forwarded(word: &str) -> Option<IpAddr> {
    let bare = match word.strip_prefix('[').and_then(|word| word.split_once(']')) {
        Some((inside, _port)) => inside,
        None => match word.split_once(':') {
            Some((address, port)) if !port.contains(':') => address,
            _ => word,
        },
    };
    bare.parse()
        .ok()
        .map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn range(text: &str) -> AddressRange {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_contains_its_addresses_in_any_notation() {
        let table = [
            ("203.0.113.0/24", "203.0.113.0", true),
            ("203.0.113.0/24", "203.0.113.255", true),
            ("203.0.113.0/24", "203.0.114.0", false),
            ("203.0.113.0/24", "::ffff:203.0.113.9", true),
            ("203.0.113.0/24", "::203.0.113.9", false),
            ("::ffff:203.0.113.0/120", "203.0.113.9", true),
            ("203.0.113.7", "203.0.113.7", true),
            ("203.0.113.7", "203.0.113.8", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "2001:db8::1", true),
            ("::/0", "8.8.8.8", false),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::", false),
            ("2001:db8::1", "2001:db8::1", true),
            ("2001:db8::1/128", "2001:db8::2", false),
        ];
        for (written, address, holds) in table {
            let address: IpAddr = address.parse().unwrap();
            assert_eq!(range(written).holds(address), holds, "{written} {address}");
        }
    }

    #[test]
    fn a_text_that_is_no_range_is_refused_by_name() {
        for text in [
            "",
            "/",
            "/24",
            "shop",
            "203.0.113",
            "203.0.113.0/",
            "203.0.113.0/33",
            "203.0.113.0/+8",
            "203.0.113.0/24/24",
            " 203.0.113.0/24",
            "2001:db8::/129",
            "203.0.113.0-9",
            "::ffff:203.0.113.0/24",
        ] {
            let fault = text.parse::<AddressRange>().unwrap_err();
            assert_eq!(fault, NotRange::Form(text.to_owned()), "{text}");
        }
        let fault = "203.0.113.5/24".parse::<AddressRange>().unwrap_err();
        insta::assert_snapshot!(fault, @"`203.0.113.5/24` has bits behind its prefix: the range begins at 203.0.113.0");
    }

    #[test]
    fn a_list_without_ranges_allows_everybody() {
        let list = |text: &str| -> AllowList { text.parse().unwrap() };
        let address = "8.8.8.8".parse().unwrap();
        assert!(list("").allows(address));
        assert!(list("10.0.0.0/8,8.8.8.8").allows(address));
        assert!(!list("10.0.0.0/8").allows(address));
    }

    #[test]
    fn only_trusted_proxies_are_believed_and_from_the_right() {
        let trusted = [range("10.0.0.0/8"), range("2001:db8::/64")];
        let table: [(&str, &[&str], &str); 15] = [
            // An untrusted peer is the client itself, whatever the header contains.
            ("8.8.8.8", &["1.1.1.1"], "8.8.8.8"),
            ("8.8.8.8", &["10.0.0.2"], "8.8.8.8"),
            ("10.0.0.1", &["1.1.1.1"], "1.1.1.1"),
            ("::ffff:10.0.0.1", &["::ffff:1.1.1.1"], "1.1.1.1"),
            ("2001:db8::5", &["2a00::1"], "2a00::1"),
            // The words left of the first untrusted address may be forged.
            ("10.0.0.1", &["9.9.9.9, 1.1.1.1"], "1.1.1.1"),
            ("10.0.0.1", &["9.9.9.9, 1.1.1.1 , 10.0.0.2"], "1.1.1.1"),
            ("10.0.0.1", &["9.9.9.9", "1.1.1.1", "10.0.0.2"], "1.1.1.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["1.1.1.1:4711"], "1.1.1.1"),
            ("10.0.0.1", &["[2a00::1]:4711"], "2a00::1"),
            // The header is empty, or has a word that is no address.
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["1.1.1.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["1.1.1.1, , 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &[""], "10.0.0.1"),
        ];
        for (peer, lines, expected) in table {
            let found = client(peer.parse().unwrap(), lines.iter().copied(), &trusted);
            assert_eq!(found.to_string(), expected, "{peer} {lines:?}");
        }
    }

    fn any_range() -> impl Strategy<Value = AddressRange> {
        let v4 = (any::<u32>(), 0..=32u8).prop_map(|(bits, length)| {
            let range = IpNet::new(Ipv4Addr::from_bits(bits).into(), length);
            AddressRange(range.unwrap().trunc())
        });
        // Mapped addresses are left out, because they count as IPv4.
        let v6 = (any::<u128>(), 3..=128u8).prop_map(|(bits, length)| {
            let range = IpNet::new(Ipv6Addr::from_bits(bits | 1 << 125).into(), length);
            AddressRange(range.unwrap().trunc())
        });
        prop_oneof![v4, v6]
    }

    proptest! {
        #[test]
        fn a_displayed_list_parses_to_itself(ranges in proptest::collection::vec(any_range(), 0..8)) {
            let list = AllowList(ranges);
            prop_assert_eq!(list.to_string().parse(), Ok(list));
        }

        #[test]
        fn a_range_contains_exactly_its_prefix(range in any_range(), bits: u128, short: u32) {
            for address in [IpAddr::from(Ipv6Addr::from_bits(bits)), Ipv4Addr::from_bits(short).into()] {
                let address = address.to_canonical();
                let begins = IpNet::new(address, range.0.prefix_len())
                    .is_ok_and(|same_length| same_length.trunc() == range.0);
                prop_assert_eq!(range.holds(address), begins);
            }
        }

        #[test]
        fn no_client_can_forge_the_address_of_another(
            true_client: u32, forged in "[0-9a-f:., ]{0,60}", hops in 0..4u8,
        ) {
            // The client may send any header. The first trusted proxy appends the client's real
            // address.
            let stranger = Ipv4Addr::from_bits(true_client | 1 << 31);
            let proxies: Vec<String> = (0..hops).map(|hop| format!(", 10.0.0.{hop}")).collect();
            let line = format!("{forged}, {stranger}{}", proxies.concat());
            let found = client("10.0.0.9".parse().unwrap(), [line.as_str()].into_iter(), &[range("10.0.0.0/8")]);
            prop_assert_eq!(found, IpAddr::from(stranger));
        }
    }
}
