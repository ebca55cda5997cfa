//! Pages of inbound messages: any `deliver_sm`s, with headers or parameters of pages or without.

#![no_main]

use domain::inbound::{InboundPage, join};
use libfuzzer_sys::fuzz_target;
use smpp::{DeliverSm, Segment, Tlvs, content};
use std::collections::BTreeMap;

const TIMEOUT_MS: i64 = 300_000;

// Each page has its class, its alphabet, the lengths of its text and of its parameters, and both of them.
fuzz_target!(|octets: &[u8]| {
    let mut messages: BTreeMap<(u32, u8), Vec<InboundPage>> = BTreeMap::new();
    let (mut rest, mut id) = (octets, 0);
    while let [esm_class, data_coding, text, parameters, later @ ..] = rest {
        let (text, later) = later.split_at(usize::from(*text).min(later.len()));
        let (parameters, later) = later.split_at(usize::from(*parameters).min(later.len()));
        (rest, id) = (later, id + 1);
        let deliver = DeliverSm {
            esm_class: *esm_class,
            data_coding: *data_coding,
            short_message: text.to_vec().into(),
            tlvs: Tlvs::Wire(parameters).to_vec(),
            ..DeliverSm::default()
        };
        let segment = Segment::of(&deliver);
        // A message of one page shares its key with no other.
        let alone = (u32::from(u16::MAX) + id, 1);
        let key = segment.map_or(alone, |segment| (segment.reference.into(), segment.total));
        messages.entry(key).or_default().push(InboundPage {
            id: id.into(),
            number: segment.map_or(1, |segment| segment.number),
            total: key.1,
            data_coding: *data_coding,
            octets: content(&deliver).to_vec(),
            received_at_ms: id.into(),
        });
    }
    messages.into_values().for_each(check);
});

/// Each page is in one message, in any order of arrival, and a message that is complete does not change any more.
fn check(pages: Vec<InboundPage>) {
    let ids: Vec<i64> = pages.iter().map(|page| page.id).collect();
    let octets: usize = pages.iter().map(|page| page.octets.len()).sum();
    let mut reversed = pages.clone();
    reversed.reverse();
    let complete = join(pages.clone(), 0, TIMEOUT_MS);
    let all = join(pages, 2 * TIMEOUT_MS, TIMEOUT_MS);
    assert_eq!(join(reversed, 2 * TIMEOUT_MS, TIMEOUT_MS), all);
    assert!(all.starts_with(&complete));
    let mut joined: Vec<i64> = all.iter().flat_map(|one| one.ids.clone()).collect();
    joined.sort_unstable();
    assert_eq!(joined, ids);
    assert!(all.iter().map(|one| one.octets.len()).sum::<usize>() <= octets);
    assert!(all.iter().all(|one| !one.body.contains('\0')));
}
