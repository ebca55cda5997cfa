use super::*;
use crate::command::Command;
use crate::frame::first_frame;
use crate::pdu::{Address, Bind, BindKind, ShortMessage};
use crate::status::CommandStatus;
use crate::tlv::{Tlv, Tlvs, tag};
use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

fn encoded(sequence: u32, pdu: &Pdu<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, CommandStatus::ROK, sequence, pdu).unwrap();
    out
}

fn decoded(octets: &[u8]) -> Pdu<'_> {
    let frame = first_frame(octets).unwrap().unwrap();
    decode(frame.header.command, frame.body).unwrap()
}

fn addresses() -> impl Strategy<Value = Address> {
    (0u8..8, 0u8..20, "[ -~]{0,20}").prop_map(|(ton, npi, digits)| Address { ton, npi, digits })
}

fn parameters() -> impl Strategy<Value = Vec<Tlv>> {
    vec(
        (any::<u16>(), vec(any::<u8>(), 0..300)).prop_map(|(tag, value)| Tlv::new(tag, value)),
        0..4,
    )
}

prop_compose! {
    fn messages()(
        service_type in "[A-Z]{0,5}", source in addresses(), destination in addresses(),
        octets in any::<[u8; 7]>(),
        schedule in prop_oneof![Just(String::new()), "[0-9]{15}R"],
        validity_period in prop_oneof![Just(String::new()), "[0-9]{15}\\+"],
        short_message in vec(any::<u8>(), 0..=254), tlvs in parameters(),
    ) -> ShortMessage {
        ShortMessage {
            service_type, source, destination,
            esm_class: octets[0], protocol_id: octets[1], priority: octets[2],
            schedule, validity_period,
            registered_delivery: octets[3], replace_if_present: octets[4],
            data_coding: octets[5], default_message: octets[6],
            short_message: short_message.into(), tlvs,
        }
    }
}

fn kinds() -> impl Strategy<Value = BindKind> {
    prop_oneof![
        Just(BindKind::Transceiver),
        Just(BindKind::Transmitter),
        Just(BindKind::Receiver)
    ]
}

proptest! {
    #[test]
    fn a_message_is_decoded_as_it_was_encoded(message in messages(), sequence in 1u32..0x7FFF_FFFF) {
        let out = encoded(sequence, &Pdu::Submit(Sm::of(&message)));
        let Pdu::Submit(submit) = decoded(&out) else { panic!("{out:?}") };
        prop_assert_eq!(&submit.to_owned(), &message);
        prop_assert_eq!(first_frame(&out).unwrap().unwrap().header.sequence, sequence);
        let out = encoded(sequence, &Pdu::Deliver(Sm::of(&message)));
        let Pdu::Deliver(deliver) = decoded(&out) else { panic!("{out:?}") };
        prop_assert_eq!(deliver.to_owned(), message);
    }

    #[test]
    fn a_data_sm_keeps_its_fields(message in messages()) {
        let out = encoded(1, &Pdu::Data(Sm::of(&message)));
        let Pdu::Data(data) = decoded(&out) else { panic!("{out:?}") };
        let kept = ShortMessage {
            service_type: message.service_type, source: message.source,
            destination: message.destination, esm_class: message.esm_class,
            registered_delivery: message.registered_delivery, data_coding: message.data_coding,
            tlvs: message.tlvs, ..ShortMessage::default()
        };
        prop_assert_eq!(data.to_owned(), kept);
    }

    #[test]
    fn binds_are_decoded(kind in kinds(), system_id in "[ -~]{0,15}", password in "[ -~]{0,8}",
        system_type in "[A-Z]{0,12}", octets in any::<[u8; 3]>(), address_range in "[0-9]{0,40}",
        tlvs in parameters(),
    ) {
        let bind = Bind {
            system_id: system_id.clone(), password, system_type, interface_version: octets[0],
            addr_ton: octets[1], addr_npi: octets[2], address_range,
        };
        let out = encoded(1, &Pdu::Bind(kind, BindFields::of(&bind)));
        let Pdu::Bind(found, fields) = decoded(&out) else { panic!("{out:?}") };
        prop_assert_eq!((found, fields.to_owned()), (kind, bind));

        let response = BindRespFields { system_id: system_id.as_bytes(), tlvs: Tlvs::List(&tlvs) };
        let out = encoded(1, &Pdu::BindResp(kind, response));
        let Pdu::BindResp(found, fields) = decoded(&out) else { panic!("{out:?}") };
        prop_assert_eq!((found, fields.system_id), (kind, system_id.as_bytes()));
        prop_assert_eq!(fields.tlvs.to_vec(), tlvs);
    }

    #[test]
    fn responses_are_decoded(id in "[ -~]{0,64}") {
        let out = encoded(1, &Pdu::SubmitResp(id.as_bytes()));
        prop_assert!(matches!(decoded(&out), Pdu::SubmitResp(found) if found == id.as_bytes()));
        let out = encoded(1, &Pdu::DataResp(id.as_bytes()));
        prop_assert!(matches!(decoded(&out), Pdu::DataResp(found) if found == id.as_bytes()));
    }

    #[test]
    fn no_octets_make_the_decoder_panic(command in prop_oneof![0u32..0x20, 0x100u32..0x104, any::<u32>()],
        response in any::<bool>(), body in vec(prop_oneof![Just(0u8), any::<u8>()], 0..120),
    ) {
        let command = Command(command | if response { 0x8000_0000 } else { 0 });
        match decode(command, &body) {
            Ok(Pdu::Submit(message) | Pdu::Deliver(message) | Pdu::Data(message)) => {
                let owned = message.to_owned();
                let _ = owned.text();
            }
            Ok(Pdu::BindResp(_, fields)) => { let _ = fields.interface_version(); }
            Ok(_) | Err(_) => {}
        }
        let _ = first_frame(&body);
    }
}

#[test]
fn pdus_without_fields_are_decoded() {
    let pdus = [
        Pdu::DeliverResp,
        Pdu::EnquireLink,
        Pdu::EnquireLinkResp,
        Pdu::Unbind,
        Pdu::UnbindResp,
        Pdu::GenericNack,
        Pdu::Other(Command::REPLACE_SM, b"abc"),
    ];
    for pdu in pdus {
        assert_eq!(decoded(&encoded(5, &pdu)).command(), pdu.command());
    }
}

#[test]
fn a_submit_sm_has_these_octets() {
    let message = ShortMessage {
        source: Address::alphanumeric("Ogene"),
        destination: Address::international("2348031234567"),
        registered_delivery: 1,
        short_message: Bytes::from_static(b"Hello"),
        tlvs: vec![Tlv::new(0x1400, &b"x"[..])],
        ..ShortMessage::default()
    };
    let expected = b"\0\0\0\x3D\0\0\0\x04\0\0\0\0\0\0\0\x09\0\
        \x05\0Ogene\0\x01\x012348031234567\0\0\0\0\0\0\x01\0\0\0\x05Hello\x14\0\0\x01x";
    assert_eq!(
        encoded(9, &Pdu::Submit(Sm::of(&message))),
        expected.as_slice()
    );
}

#[test]
fn a_rejected_pdu_does_not_change_the_buffer() {
    let good = ShortMessage::default();
    let cases = [
        (
            ShortMessage {
                short_message: vec![0; 255].into(),
                ..good.clone()
            },
            CommandStatus::RINVMSGLEN,
        ),
        (
            ShortMessage {
                destination: Address::international("2".repeat(21)),
                ..good.clone()
            },
            CommandStatus::RINVDSTADR,
        ),
        (
            ShortMessage {
                source: Address::alphanumeric("a\0b"),
                ..good.clone()
            },
            CommandStatus::RINVSRCADR,
        ),
        (
            ShortMessage {
                validity_period: "0101".into(),
                ..good.clone()
            },
            CommandStatus::RINVEXPIRY,
        ),
        (
            ShortMessage {
                tlvs: vec![Tlv::new(tag::MESSAGE_PAYLOAD, vec![b'a'; 65_535])],
                ..good
            },
            CommandStatus::RINVCMDLEN,
        ),
    ];
    for (message, fault) in cases {
        let mut out = b"before".to_vec();
        let refused = encode(
            &mut out,
            CommandStatus::ROK,
            1,
            &Pdu::Submit(Sm::of(&message)),
        );
        assert_eq!(
            (refused, out.as_slice()),
            (Err(fault), b"before".as_slice())
        );
    }
}

#[test]
fn deviations_of_real_peers_are_accepted() {
    let id = |body| match decode(Command::SUBMIT_SM_RESP, body) {
        Ok(Pdu::SubmitResp(id)) => text(id),
        other => panic!("{other:?}"),
    };
    assert_eq!(id(b""), "", "no body");
    assert_eq!(id(b"abc"), "abc", "no NUL");
    assert_eq!(id(b"abc\0junk\xFF"), "abc", "junk after the id");
    let long = [b'7'; 90];
    assert_eq!(id(&long).len(), 90, "longer than 64");

    let Ok(Pdu::Deliver(deliver)) = decode(
        Command::DELIVER_SM,
        b"\0\x01\x01234803123456700000000000000000\0\x05\0\xC4\x96\xFF\0\0\0\0\0\x30\x31\0\0\0\0\0\x02hi\
          \x00\x1E\0\x03abc\x04\x23\0\x02\x03\x01",
    ) else {
        panic!("an odd deliver_sm was refused")
    };
    let deliver = deliver.to_owned();
    assert_eq!(deliver.source.digits.len(), 30, "an overlong address");
    assert_eq!(
        deliver.destination.digits, "Ė\u{FFFD}",
        "not ASCII, not UTF-8"
    );
    assert_eq!(deliver.validity_period, "01", "a short time");
    assert_eq!(
        deliver.tlv(tag::RECEIPTED_MESSAGE_ID),
        Some(&b"abc"[..]),
        "no NUL in the TLV"
    );
    assert_eq!(
        deliver.tlv(tag::NETWORK_ERROR_CODE),
        Some(&[3, 1][..]),
        "2 octets"
    );
}

#[test]
fn fields_that_end_too_early_are_malformed() {
    assert_eq!(
        decode(Command::DELIVER_SM, b"\0\x01\x01234").unwrap_err(),
        Malformed(Command::DELIVER_SM)
    );
    assert!(decode(Command::SUBMIT_SM, b"").is_err());
}
