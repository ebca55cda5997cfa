//! Octets from any SMSC or client. A PDU that is read and may be written is read back as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use smpp::codec::{decode, encode};
use smpp::{Frame, first_frame};

/// A frame in our own form, if SMPP allows it.
fn rewritten(frame: &Frame<'_>) -> Option<Vec<u8>> {
    let pdu = decode(frame.header.command, frame.body).ok()?;
    let mut octets = Vec::new();
    encode(
        &mut octets,
        frame.header.status,
        frame.header.sequence,
        &pdu,
    )
    .ok()?;
    Some(octets)
}

fuzz_target!(|octets: &[u8]| {
    let mut rest = octets;
    while let Ok(Some(frame)) = first_frame(rest) {
        if let Some(once) = rewritten(&frame) {
            let again = first_frame(&once)
                .expect("a sound length")
                .expect("a whole frame");
            assert_eq!(rewritten(&again).as_ref(), Some(&once));
        }
        rest = &rest[frame.octets()..];
    }
});
