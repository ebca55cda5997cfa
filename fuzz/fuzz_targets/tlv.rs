//! Optional parameters from the wire: each found one is in the list again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use smpp::Tlvs;

fuzz_target!(|octets: &[u8]| {
    let wire = Tlvs::Wire(octets);
    let list = wire.to_vec();
    for parameter in &list {
        assert!(parameter.value.len() <= octets.len());
        assert_eq!(
            wire.get(parameter.tag),
            Tlvs::List(&list).get(parameter.tag)
        );
    }
    assert_eq!(Tlvs::List(&list).to_vec(), list);
});
