//! No URL in any notation, and no name wherever it resolves, causes a connection to a forbidden
//! address.

use super::client::{Client, Timeouts};
use super::target::Post;
use crate::context::http_client::connect::{AttemptError, Connector};
use crate::context::network::{Network, NetworkFuture, Transport};
use domain::public_address;
use parking_lot::Mutex;
use percent_encoding::NON_ALPHANUMERIC;
use proptest::collection::vec;
use proptest::prelude::*;
use rustls::RootCertStore;
use std::future::ready;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// Resolves names by a script, and records the dialled addresses.
#[derive(Clone, Default)]
struct Recording {
    lookups: Arc<Mutex<Vec<Vec<IpAddr>>>>,
    dialled: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Network for Recording {
    fn resolve(&self, _name: &str) -> NetworkFuture<'_, Vec<IpAddr>> {
        let look = self.lookups.lock().pop().unwrap_or_default();
        Box::pin(ready(Ok(look)))
    }

    fn dial(&self, address: SocketAddr) -> NetworkFuture<'_, Box<dyn Transport>> {
        self.dialled.lock().push(address);
        Box::pin(ready(Err(io::ErrorKind::ConnectionRefused.into())))
    }

    fn resolve_carrier(&self, _address: &str) -> NetworkFuture<'_, Vec<SocketAddr>> {
        unreachable!("callbacks have no carrier")
    }

    fn roots(&self) -> RootCertStore {
        RootCertStore::empty()
    }
}

/// Posts twice to a URL. Returns the last error and the dialled addresses.
fn dialled(
    url: &str,
    lookups: Vec<Vec<IpAddr>>,
    allow_private: bool,
) -> (AttemptError, Vec<SocketAddr>) {
    let network = Recording {
        lookups: Arc::new(Mutex::new(lookups)),
        ..Recording::default()
    };
    let connector = Connector::new(Arc::new(network.clone()), allow_private);
    let connector = connector.unwrap();
    let client = Client::new(connector, Timeouts::default(), 8);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let fault = runtime.block_on(async {
        let _first = client.post(url, Post::default()).await;
        client.post(url, Post::default()).await.unwrap_err()
    });
    let dialled = network.dialled.lock().clone();
    (fault, dialled)
}

/// Returns `true` if the standard library classifies an address as not public, as a check of our
/// own table.
fn is_plainly_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_loopback()
                || v4.is_private()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_multicast()
                || v4.is_broadcast()
                || v4.is_documentation()
        }
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || v6
                    .to_ipv4_mapped()
                    .is_some_and(|v4| is_plainly_forbidden(v4.into()))
        }
    }
}

fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let tail = any::<u32>();
    let special = prop::sample::select(vec![
        (0u32, 8),
        (0x0A00_0000, 8),
        (0x6440_0000, 10),
        (0x7F00_0000, 8),
        (0xA9FE_0000, 16),
        (0xAC10_0000, 12),
        (0xC000_0000, 24),
        (0xC000_0200, 24),
        (0xC058_6300, 24),
        (0xC0A8_0000, 16),
        (0xC612_0000, 15),
        (0xC633_6400, 24),
        (0xCB00_7100, 24),
        (0xE000_0000, 4),
        (0xF000_0000, 4),
    ]);
    prop_oneof![
        4 => (special, tail).prop_map(|((network, length), tail)| network | (tail & (u32::MAX >> length))),
        1 => any::<u32>(),
    ]
    .prop_map(Ipv4Addr::from_bits)
}

fn v6() -> impl Strategy<Value = Ipv6Addr> {
    let tail = any::<u128>();
    let prefixes = prop::sample::select(vec![
        (0u128, 127),
        (0x0064_FF9B_0001 << 80, 48),
        (0x0100 << 112, 64),
        (0x2001 << 112, 23),
        (0x2001_0DB8 << 96, 32),
        (0x3FFF << 112, 20),
        (0x5F00 << 112, 16),
        (0xFC00 << 112, 7),
        (0xFE80 << 112, 10),
        (0xFEC0 << 112, 10),
        (0xFF00 << 112, 8),
        (0x2A00 << 112, 16),
    ]);
    let plain = (prefixes, tail).prop_map(|((network, length), tail)| {
        Ipv6Addr::from_bits(network | (tail & (u128::MAX >> length)))
    });
    prop_oneof![
        plain,
        (v4(), 0..WRAPPINGS).prop_map(|(inner, how)| wrapped(inner, how))
    ]
}

/// Encodings of an IPv4 address in IPv6: mapped, compatible, NAT64, 6to4, local NAT64.
const WRAPPINGS: usize = 5;

fn wrapped(inner: Ipv4Addr, how: usize) -> Ipv6Addr {
    let bits = u128::from(inner.to_bits());
    Ipv6Addr::from_bits(match how {
        0 => 0xFFFF << 32 | bits,
        1 => bits,
        2 => 0x0064_FF9B << 96 | bits,
        3 => 0x2002 << 112 | bits << 80 | 1,
        _ => 0x0064_FF9B_0001 << 80 | bits,
    })
}

/// Ways to spell an IPv4 address.
const NOTATIONS: usize = 12;

/// Returns a notation of an IPv4 address that occurs in URLs.
fn spelt(address: Ipv4Addr, how: usize) -> String {
    let [a, b, c, d] = address.octets();
    let bits = address.to_bits();
    match how {
        0 => format!("{a}.{b}.{c}.{d}"),
        1 => format!("{bits}"),
        2 => format!("0x{bits:X}"),
        3 => format!("0{bits:o}"),
        4 => format!("{a}.{}", bits & 0x00FF_FFFF),
        5 => format!("0x{a:x}.{b}.{}", bits & 0xFFFF),
        6 => format!("0{a:o}.0x{b:x}.{c}.0{d:o}"),
        7 => format!("{a}.{b}.{c}.{d}."),
        8 => percent_encoding::percent_encode(address.to_string().as_bytes(), NON_ALPHANUMERIC)
            .to_string()
            .replace('1', "%31"),
        9 => format!("{a}。{b}．{c}｡{d}"),
        10 => address.to_string().replace('1', "１").replace('2', "②"),
        _ => format!("0000{a:03o}.{b}.{c}.{d}"),
    }
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (v4(), 0..NOTATIONS).prop_map(|(address, how)| spelt(address, how)),
        3 => v6().prop_map(|address| format!("[{address}]")),
        1 => v6().prop_map(|address| format!("[{}]", address.to_string().to_uppercase())),
        3 => prop::sample::select(vec![
            "localhost", "LOCALHOST.", "receiver.example", "metadata.internal", "127.0.0.1.example",
            "xn--ls8h.example", "0x7f000001.example", "a", "example.ng.",
        ]).prop_map(str::to_owned),
    ]
}

fn url() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec![
        "http://",
        "https://",
        "HTTP:\\\\",
        "http:/",
        " http://",
        "ht\ntp://",
    ]);
    let user = prop::sample::select(vec!["", "user:secret@", "8.8.8.8@", "8.8.8.8:80@", "%40@"]);
    let port = prop::sample::select(vec!["", ":80", ":8080", ":65535"]);
    let path = prop::sample::select(vec!["", "/", "/hook?secret=1#part", "/@8.8.8.8/", "?a=b"]);
    (scheme, user, host(), port, path)
        .prop_map(|(scheme, user, host, port, path)| format!("{scheme}{user}{host}{port}{path}"))
}

fn lookups() -> impl Strategy<Value = Vec<Vec<IpAddr>>> {
    let address = prop_oneof![v4().prop_map(IpAddr::from), v6().prop_map(IpAddr::from)];
    vec(vec(address, 0..4), 2)
}

/// The ranges of IANA's special-purpose registries, and multicast, reserved and unassigned ranges.
const SPECIAL: [(&str, &str); 33] = [
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.31.196.0", "192.31.196.255"),
    ("192.52.193.0", "192.52.193.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("192.175.48.0", "192.175.48.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "239.255.255.255"),
    ("240.0.0.0", "255.255.255.255"),
    ("::", "::1"),
    ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
    ("100::", "100::ffff:ffff:ffff:ffff"),
    ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
    ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
    ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ("4000::", "4000:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
];

/// Returns the first, the middle and the last address of a range.
fn samples((first, last): (&str, &str)) -> [IpAddr; 3] {
    match (first.parse().unwrap(), last.parse().unwrap()) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            let middle = first.to_bits().midpoint(last.to_bits());
            [
                first.into(),
                Ipv4Addr::from_bits(middle).into(),
                last.into(),
            ]
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => {
            let middle = first.to_bits().midpoint(last.to_bits());
            [
                first.into(),
                Ipv6Addr::from_bits(middle).into(),
                last.into(),
            ]
        }
        _ => unreachable!("a range is of one family"),
    }
}

/// Returns an address and the IPv6 addresses that embed it.
fn shapes(address: IpAddr) -> Vec<IpAddr> {
    let IpAddr::V4(inner) = address else {
        return vec![address];
    };
    let wrapped = (0..WRAPPINGS).map(|how| wrapped(inner, how).into());
    wrapped.chain([address]).collect()
}

/// Returns URLs that lead to an address: in every notation, and by names that resolve to it at the
/// first or second lookup or among other forbidden addresses.
fn targets(address: IpAddr) -> Vec<(String, Vec<Vec<IpAddr>>)> {
    let loopback = IpAddr::from([127, 0, 0, 1]);
    let literals: Vec<String> = match address {
        IpAddr::V4(address) => (0..NOTATIONS).map(|how| spelt(address, how)).collect(),
        IpAddr::V6(address) => vec![
            format!("[{address}]"),
            format!("[{}]", address.to_string().to_uppercase()),
        ],
    };
    let literals = literals.into_iter().map(|host| (host, vec![]));
    let names = [
        vec![vec![address], vec![address]],
        // Lookups are popped from the end.
        vec![vec![address], vec![]],
        vec![vec![loopback, address], vec![address, loopback]],
    ];
    let names = names.map(|lookups| ("receiver.example".to_owned(), lookups));
    literals.chain(names).collect()
}

#[test]
fn special_ranges_are_refused_in_every_notation() {
    let mut judged = 0;
    for address in SPECIAL.into_iter().flat_map(samples).flat_map(shapes) {
        for (host, lookups) in targets(address) {
            for url in [
                format!("http://{host}/"),
                format!("https://{host}:8443/hook"),
            ] {
                let (fault, dialled) = dialled(&url, lookups.clone(), false);
                assert_eq!(dialled, [], "{url} for {address}");
                assert!(
                    matches!(fault, AttemptError::Forbidden | AttemptError::Url),
                    "{url}: {fault}"
                );
                judged += 1;
            }
        }
    }
    println!("{judged} targets refused, none dialled");
    assert!(judged >= 2_000, "{judged}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_forbidden_address_is_ever_dialled(url in url(), lookups in lookups()) {
        for address in dialled(&url, lookups, false).1 {
            prop_assert!(public_address::is_public(address.ip()), "{url} -> {address}");
            prop_assert!(!is_plainly_forbidden(address.ip()), "{url} -> {address}");
        }
    }
}

#[test]
fn public_addresses_are_dialled_one_after_the_other() {
    let public: [IpAddr; 3] = ["8.8.8.8", "2a00::1", "9.9.9.9"].map(|text| text.parse().unwrap());
    let (fault, seen) = dialled(
        "https://receiver.example/",
        vec![public.to_vec(), vec![]],
        false,
    );
    assert_eq!(seen, public.map(|ip| SocketAddr::new(ip, 443)));
    assert!(matches!(fault, AttemptError::Unreachable(_)));
    assert_eq!(
        dialled("http://134744072:81/", vec![], false).1[0],
        "8.8.8.8:81".parse().unwrap()
    );
}

#[test]
fn a_rebound_name_is_refused_at_the_second_lookup() {
    let (public, private): (IpAddr, IpAddr) = ([8, 8, 8, 8].into(), [127, 0, 0, 1].into());
    // Lookups are popped from the end.
    let (fault, seen) = dialled(
        "http://rebinding.example/",
        vec![vec![private], vec![public]],
        false,
    );
    assert_eq!(seen, [SocketAddr::new(public, 80)]);
    assert!(matches!(fault, AttemptError::Forbidden));
}

#[test]
fn only_public_addresses_of_a_mixed_answer_are_dialled() {
    let answer: Vec<IpAddr> = ["10.0.0.1", "8.8.8.8", "::1"]
        .map(|text| text.parse().unwrap())
        .into();
    let (_, seen) = dialled("http://mixed.example/", vec![vec![], answer], false);
    assert_eq!(seen, ["8.8.8.8:80".parse().unwrap()]);
}

#[test]
fn private_addresses_are_dialled_if_they_are_allowed() {
    let (_, seen) = dialled("http://0x7f.1:9000/", vec![], true);
    assert_eq!(seen[0], "127.0.0.1:9000".parse().unwrap());
}

#[test]
fn a_name_without_an_address_is_unresolved() {
    assert!(matches!(
        dialled("http://nowhere.example/", vec![], false).0,
        AttemptError::Unresolved(_)
    ));
}
