//! The measured cases, for time and allocations.

#![expect(
    clippy::unwrap_used,
    reason = "a case that cannot be prepared is not measured"
)]

use bytes::Bytes;
use smpp::codec::{Pdu, Sm, decode, encode};
use smpp::{
    Address, CommandStatus, DeliverSm, SubmitSm, Tlv, esm_class, first_frame, receipt, tag,
};
use std::hint::black_box;

/// A measurement of repeated work.
pub(crate) trait Measure {
    fn case<T>(&mut self, name: &str, work: impl FnMut() -> T);
}

/// A typical page of 200 octets on the wire.
pub(crate) fn submit() -> SubmitSm {
    SubmitSm {
        source: Address::alphanumeric("Ogene"),
        destination: Address::international("2348031234501"),
        validity_period: "000001000000000R".to_owned(),
        registered_delivery: 1,
        short_message: Bytes::from_static(&[b'a'; 133]),
        ..SubmitSm::default()
    }
}

/// A receipt with a complete text and the usual parameters.
fn receipt() -> DeliverSm {
    let text = "id:0123456789abcdef sub:001 dlvrd:001 submit date:2611071201 done date:2611071203 \
        stat:DELIVRD err:000 text:Your order has been";
    DeliverSm {
        source: Address::international("2348031234501"),
        destination: Address::alphanumeric("Ogene"),
        esm_class: esm_class::RECEIPT,
        short_message: Bytes::from_static(text.as_bytes()),
        tlvs: vec![
            Tlv::new(tag::RECEIPTED_MESSAGE_ID, &b"0123456789abcdef\0"[..]),
            Tlv::new(tag::MESSAGE_STATE, &[2][..]),
        ],
        ..DeliverSm::default()
    }
}

/// The encoded form of a PDU.
pub(crate) fn wire(pdu: &Pdu<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, CommandStatus::ROK, 1, pdu).unwrap();
    out
}

fn read(octets: &[u8]) -> Pdu<'_> {
    let frame = first_frame(octets).unwrap().unwrap();
    decode(frame.header.command, frame.body).unwrap()
}

/// Encodes into a buffer of many PDUs, as connections do.
fn write(out: &mut Vec<u8>, pdu: &Pdu<'_>) {
    if out.len() > 60_000 {
        out.clear();
    }
    encode(out, CommandStatus::ROK, 1, pdu).unwrap();
}

pub(crate) fn measure(to: &mut impl Measure) {
    let mut out = Vec::with_capacity(1 << 16);
    let submit = submit();
    let octets = wire(&Pdu::Submit(Sm::of(&submit)));
    assert_eq!(octets.len(), 200);
    to.case("submit_sm: decode", || read(black_box(&octets)));
    to.case("submit_sm: encode", || {
        write(&mut out, &Pdu::Submit(Sm::of(black_box(&submit))));
    });
    to.case("submit_sm: decode and encode", || {
        write(&mut out, &read(black_box(&octets)));
    });

    let receipt = receipt();
    let octets = wire(&Pdu::Deliver(Sm::of(&receipt)));
    to.case("receipt: decode and encode the deliver_sm", || {
        write(&mut out, &read(black_box(&octets)));
    });
    to.case("receipt: own the deliver_sm", || {
        let Pdu::Deliver(message) = read(black_box(&octets)) else {
            unreachable!("a deliver_sm was written");
        };
        message.to_owned()
    });
    to.case("receipt: parse", || receipt::parse(black_box(&receipt)));
}
