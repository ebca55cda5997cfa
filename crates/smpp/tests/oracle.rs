//! Another implementation reads our PDUs. Two implementations are rarely wrong in the same way.

use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use rusmpp_core::command::owned::Command;
use rusmpp_core::decode::owned::DecodeWithLength as _;
use rusmpp_core::encode::owned::Encode as _;
use smpp::codec::{BindFields, Pdu, Sm, encode};
use smpp::{Address, Bind, BindKind, CommandStatus, ShortMessage, Tlv, tag};

/// Decodes the octets after the length with the other implementation, and encodes them again.
fn through_rusmpp(octets: &[u8]) -> Result<Vec<u8>, TestCaseError> {
    let mut rest = BytesMut::from(&octets[4..]);
    let length = rest.len();
    let (command, read) = Command::decode(&mut rest, length)
        .map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
    prop_assert_eq!(read, length);
    let mut out = BytesMut::with_capacity(octets.len());
    command.encode(&mut out);
    Ok(out.to_vec())
}

fn check(pdu: &Pdu<'_>, status: CommandStatus, sequence: u32) -> Result<(), TestCaseError> {
    let mut out = Vec::new();
    encode(&mut out, status, sequence, pdu).map_err(|fault| TestCaseError::fail(fault.name()))?;
    let again = through_rusmpp(&out)?;
    prop_assert_eq!(&again, &out[4..]);
    Ok(())
}

prop_compose! {
    fn messages()(
        service_type in "[A-Z]{0,5}",
        ton in 0u8..7, npi in prop_oneof![Just(0u8), Just(1u8)],
        source in "[ -~]{0,20}", destination in "[0-9]{0,20}",
        octets in any::<[u8; 4]>(), flag in 0u8..2,
        validity_period in prop_oneof![Just(String::new()), "[0-9]{15}R"],
        short_message in vec(any::<u8>(), 0..=254),
        id in proptest::option::of("[0-9a-f]{1,20}"), vendor in vec(any::<u8>(), 0..20),
    ) -> ShortMessage {
        let mut tlvs = vec![Tlv::new(0x1401, vendor)];
        tlvs.extend(id.map(|id| Tlv::new(tag::RECEIPTED_MESSAGE_ID, format!("{id}\0").into_bytes())));
        ShortMessage {
            service_type,
            source: Address { ton, npi, digits: source },
            destination: Address { ton: 1, npi: 1, digits: destination },
            esm_class: octets[0] & 0x04, protocol_id: octets[1], priority: octets[2] & 3,
            validity_period, registered_delivery: octets[3] & 0x11, replace_if_present: flag,
            short_message: short_message.into(), tlvs,
            ..ShortMessage::default()
        }
    }
}

proptest! {
    #[test]
    fn another_implementation_reads_our_messages(message in messages(), sequence in 1u32..0x7FFF_FFFF) {
        let sm = Sm::of(&message);
        check(&Pdu::Submit(sm), CommandStatus::ROK, sequence)?;
        check(&Pdu::Deliver(sm), CommandStatus::ROK, sequence)?;
        check(&Pdu::Data(sm), CommandStatus::ROK, sequence)?;
    }

    #[test]
    fn another_implementation_reads_our_binds_and_responses(
        system_id in "[ -~]{0,15}", password in "[ -~]{0,8}", system_type in "[A-Z]{0,12}",
        id in "[ -~]{0,64}", sequence in 1u32..0x7FFF_FFFF,
    ) {
        let bind = Bind { system_id, password, system_type, interface_version: 0x34, ..Bind::default() };
        for kind in [BindKind::Transceiver, BindKind::Transmitter, BindKind::Receiver] {
            check(&Pdu::Bind(kind, BindFields::of(&bind)), CommandStatus::ROK, sequence)?;
        }
        for pdu in [Pdu::SubmitResp(id.as_bytes()), Pdu::DeliverResp, Pdu::EnquireLink, Pdu::EnquireLinkResp,
            Pdu::Unbind, Pdu::UnbindResp, Pdu::GenericNack,
        ] {
            check(&pdu, CommandStatus::ROK, sequence)?;
        }
        check(&Pdu::GenericNack, CommandStatus::RINVCMDID, sequence)?;
    }
}
