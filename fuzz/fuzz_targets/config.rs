//! Configurations: each is read, or its faults are named.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::config::Config;

fuzz_target!(|text: &str| {
    // The configuration may name other files, and these might be any device.
    if text.contains("file") || text.contains("tls") {
        return;
    }
    if let Err(faults) = Config::read(text, "fuzz", []) {
        assert!(!faults.is_empty());
    }
});
