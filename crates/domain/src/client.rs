//! Where a request comes from: ranges of addresses, and what proxies say of whom they speak for.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses with a common beginning, such as `203.0.113.0/24`; a single address is the shortest of them.
///
/// An IPv4 address inside an IPv6 address (`::ffff:0:0/96`) is that IPv4 address: which of the two a client is
/// seen by depends on how the server listens, not on the client.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct AddressRange {
    first: IpAddr,
    /// Bits that all of them have in common.
    length: u32,
}

/// Why a text names no range.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NotRange {
    /// It is something else.
    #[error("`{0}` is neither an IP address nor a range such as 203.0.113.0/24 or 2001:db8::/48")]
    Form(String),
    /// A slip in either half looks like this; which one was meant is not for us to guess.
    #[error("`{0}` has bits behind its prefix: the range begins at {1}")]
    Bits(String, IpAddr),
}

impl AddressRange {
    /// Whether an address is one of them.
    pub fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && beginning(address, self.length) == self.first
    }
}

/// An address with all bits behind the first `length` cleared.
fn beginning(address: IpAddr, length: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            Ipv4Addr::from_bits(address.to_bits() & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() & mask).into()
        }
    }
}

/// Bits of an address of that kind.
fn bits(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl FromStr for AddressRange {
    type Err = NotRange;

    fn from_str(text: &str) -> Result<Self, NotRange> {
        let form = || NotRange::Form(text.to_owned());
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let written: IpAddr = address.parse().map_err(|_| form())?;
        let mut length = match length {
            None => bits(written),
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                digits.parse().map_err(|_| form())?
            }
            Some(_) => return Err(form()),
        };
        let first = written.to_canonical();
        // A range of mapped addresses is one of IPv4 where it holds nothing else.
        length = length
            .checked_sub(bits(written) - bits(first))
            .filter(|length| *length <= bits(first))
            .ok_or_else(form)?;
        match beginning(first, length) {
            begins if begins == first => Ok(Self { first, length }),
            begins => Err(NotRange::Bits(text.to_owned(), begins)),
        }
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.length == bits(self.first) {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}/{}", self.first, self.length)
        }
    }
}

/// Which addresses may; none at all means every one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AllowList(pub Vec<AddressRange>);

impl AllowList {
    /// Whether an address may.
    pub fn allows(&self, address: IpAddr) -> bool {
        self.0.is_empty() || self.0.iter().any(|range| range.holds(address))
    }
}

/// With commas between the ranges, as it is stored and shown.
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

/// Whose request it is: the peer of the connection, or whom trusted proxies name in `X-Forwarded-For`, whose
/// lines are given in their order.
///
/// Each proxy adds at the right end whom it speaks for, so the list is read from there, and no further than the
/// first who is not trusted: what stands before was written by anybody. A word that is no address ends the
/// reading as well; then it is the last proxy's own request, which no customer's allow-list holds.
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

/// An address as proxies write it: some add the port, and then IPv6 stands in brackets.
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

    fn range(text: &str) -> AddressRange {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_holds_its_addresses_however_they_are_written() {
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
    fn what_is_no_range_is_named_and_a_slip_is_not_guessed_at() {
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
            // Nobody is trusted who is not on the list, whatever they say.
            ("8.8.8.8", &["1.1.1.1"], "8.8.8.8"),
            ("8.8.8.8", &["10.0.0.2"], "8.8.8.8"),
            ("10.0.0.1", &["1.1.1.1"], "1.1.1.1"),
            ("::ffff:10.0.0.1", &["::ffff:1.1.1.1"], "1.1.1.1"),
            ("2001:db8::5", &["2a00::1"], "2a00::1"),
            // What stands left of the first stranger was written by that stranger.
            ("10.0.0.1", &["9.9.9.9, 1.1.1.1"], "1.1.1.1"),
            ("10.0.0.1", &["9.9.9.9, 1.1.1.1 , 10.0.0.2"], "1.1.1.1"),
            ("10.0.0.1", &["9.9.9.9", "1.1.1.1", "10.0.0.2"], "1.1.1.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["1.1.1.1:4711"], "1.1.1.1"),
            ("10.0.0.1", &["[2a00::1]:4711"], "2a00::1"),
            // Nothing, or nothing that can be understood.
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
        let v4 = (any::<u32>(), 0..=32u32).prop_map(|(bits, length)| AddressRange {
            first: beginning(Ipv4Addr::from_bits(bits).into(), length),
            length,
        });
        // Not the mapped ones, which are IPv4.
        let v6 = (any::<u128>(), 3..=128u32).prop_map(|(bits, length)| AddressRange {
            first: beginning(Ipv6Addr::from_bits(bits | 1 << 125).into(), length),
            length,
        });
        prop_oneof![v4, v6]
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written(ranges in proptest::collection::vec(any_range(), 0..8)) {
            let list = AllowList(ranges);
            prop_assert_eq!(list.to_string().parse(), Ok(list));
        }

        #[test]
        fn a_range_holds_exactly_what_begins_as_it_does(range in any_range(), bits: u128, short: u32) {
            for address in [IpAddr::from(Ipv6Addr::from_bits(bits)), Ipv4Addr::from_bits(short).into()] {
                let address = address.to_canonical();
                let begins = address.is_ipv4() == range.first.is_ipv4()
                    && beginning(address, range.length) == range.first;
                prop_assert_eq!(range.holds(address), begins);
            }
        }

        #[test]
        fn nobody_can_speak_for_another(
            true_client: u32, forged in "[0-9a-f:., ]{0,60}", hops in 0..4u8,
        ) {
            // Whatever a stranger writes, the first trusted proxy writes the stranger's own address behind it.
            let stranger = Ipv4Addr::from_bits(true_client | 1 << 31);
            let proxies: Vec<String> = (0..hops).map(|hop| format!(", 10.0.0.{hop}")).collect();
            let line = format!("{forged}, {stranger}{}", proxies.concat());
            let found = client("10.0.0.9".parse().unwrap(), [line.as_str()].into_iter(), &[range("10.0.0.0/8")]);
            prop_assert_eq!(found, IpAddr::from(stranger));
        }
    }
}
