//! `X-Forwarded-For` and ranges of addresses: only trusted proxies are believed.

#![no_main]

use domain::client_address::{AddressRange, AllowList, client};
use libfuzzer_sys::fuzz_target;
use std::net::{IpAddr, Ipv4Addr};

fuzz_target!(|text: &str| {
    if let Ok(list) = text.parse::<AllowList>() {
        assert_eq!(list.to_string().parse(), Ok(list));
    }
    let stranger = IpAddr::from([203, 0, 113, 9]);
    let proxy = IpAddr::from(Ipv4Addr::LOCALHOST);
    let trusted: AddressRange = "127.0.0.0/8".parse().expect("a range");
    assert_eq!(client(stranger, text.split('\n'), &[trusted]), stranger);
    let line = format!("{text},{stranger}");
    assert_eq!(
        client(proxy, [line.as_str()].into_iter(), &[trusted]),
        stranger
    );
});
