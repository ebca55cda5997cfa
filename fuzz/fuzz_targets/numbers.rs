//! Numbers and lists of them: an accepted number is accepted again in its stored form, and none
//! appears twice.

#![no_main]

use domain::{parse_international, parse_national, parse_sandbox, read_recipients};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;

fuzz_target!(|text: &str| {
    for parse in [parse_national, parse_sandbox, parse_international] {
        if let Some(recipient) = parse(text) {
            assert_eq!(parse(&recipient.digits().to_string()), Some(recipient));
        }
        let Ok(list) = read_recipients(text, parse, 100) else {
            continue;
        };
        let different: BTreeSet<u64> = list.valid.iter().map(|one| one.digits()).collect();
        assert_eq!(different.len(), list.valid.len());
    }
});
