//! URLs of callbacks: an accepted URL has an origin, and a private one is refused.

#![no_main]

use domain::MAX_KEY_OCTETS;
use domain::callback_url::{check, origin};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|url: &str| {
    let of = origin(url);
    assert!(of.len() <= MAX_KEY_OCTETS, "{of}");
    if check(url, false).is_ok() {
        assert!(check(url, true).is_ok());
    }
    if check(url, true).is_ok() {
        assert!(of.starts_with("http"), "{of}");
        assert!(!of.contains('@'), "{of}");
    }
});
