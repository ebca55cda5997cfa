//! Maximum sizes of fields that are kept of a peer's PDUs. Peers exceed the sizes of the protocol,
//! so each field is cut when it is read, before it is queued.

use crate::codec::{self, AddressFields, Sm};
use crate::pdu::{Address, DeliverSm};
use crate::tlv::{Tlv, tag};
use bytes::Bytes;

/// Maximum size of an address. The protocol allows 20 octets, so a cut address never equals a valid
/// one.
pub const MAX_ADDRESS_OCTETS: usize = 21;
/// Maximum size of a `message_id` in a response or receipt. The protocol allows 64 octets, and some
/// SMSCs use more.
pub const MAX_MESSAGE_ID_OCTETS: usize = 1_024;
/// Maximum size of a text. A receipt is shorter, even in UCS-2 with a long id.
pub const MAX_TEXT_OCTETS: usize = 4_096;
/// Maximum size of a `system_id`, which the protocol limits to 15.
pub const MAX_SYSTEM_ID_OCTETS: usize = 16;
/// Maximum size of any other field of a `deliver_sm`. The longest one has 16 octets.
const MAX_FIELD_OCTETS: usize = 17;
/// Maximum number of parameters that nothing reads. They are kept as evidence of a receipt.
const MAX_UNREAD: usize = 8;
/// Maximum size of each of them.
const MAX_UNREAD_OCTETS: usize = 64;

/// Decodes a text of at most `max` octets, without a partial character at its end.
pub(crate) fn text_within(octets: &[u8], max: usize) -> String {
    let Some(kept) = octets.get(..max).filter(|_| octets.len() > max) else {
        return codec::text(octets);
    };
    // Only the last chunk can be a partial character.
    let cut = match kept.utf8_chunks().last() {
        Some(chunk) if is_cut(chunk.invalid()) => max - chunk.invalid().len(),
        Some(_) | None => max,
    };
    codec::text(&kept[..cut])
}

/// Returns `true` if these octets are an incomplete character of UTF-8.
fn is_cut(octets: &[u8]) -> bool {
    std::str::from_utf8(octets)
        .is_err_and(|error| !octets.is_empty() && error.error_len().is_none())
}

/// Returns an owned copy of a received message with each field cut to its maximum. Further
/// parameters with the same tag are left out, and so are many that nothing reads.
pub(crate) fn received(message: &Sm<'_>) -> DeliverSm {
    let field = |octets| text_within(octets, MAX_FIELD_OCTETS);
    let short_message = message.short_message;
    DeliverSm {
        service_type: field(message.service_type),
        source: address(message.source),
        destination: address(message.destination),
        esm_class: message.esm_class,
        protocol_id: message.protocol_id,
        priority: message.priority,
        schedule: field(message.schedule),
        validity_period: field(message.validity_period),
        registered_delivery: message.registered_delivery,
        replace_if_present: message.replace_if_present,
        data_coding: message.data_coding,
        default_message: message.default_message,
        short_message: Bytes::copy_from_slice(short_message),
        tlvs: parameters(message),
    }
}

fn address(fields: AddressFields<'_>) -> Address {
    Address {
        ton: fields.ton,
        npi: fields.npi,
        digits: text_within(fields.digits, MAX_ADDRESS_OCTETS),
    }
}

fn parameters(message: &Sm<'_>) -> Vec<Tlv> {
    let mut kept: Vec<Tlv> = Vec::new();
    let mut unread = 0;
    for (tag, value) in message.tlvs {
        if kept.iter().any(|known| known.tag == tag) {
            continue;
        }
        let max = match tag {
            tag::MESSAGE_PAYLOAD => MAX_TEXT_OCTETS,
            _ if tag::READ.contains(&tag) => MAX_MESSAGE_ID_OCTETS,
            _ if unread < MAX_UNREAD => {
                unread += 1;
                MAX_UNREAD_OCTETS
            }
            _ => continue,
        };
        let value = &value[..value.len().min(max)];
        kept.push(Tlv::new(tag, Bytes::copy_from_slice(value)));
    }
    kept
}

/// Returns the memory of a message in octets.
pub(crate) fn octets_in_memory(message: &DeliverSm) -> usize {
    let texts = [
        &message.service_type,
        &message.source.digits,
        &message.destination.digits,
        &message.schedule,
        &message.validity_period,
    ];
    let tlvs = message.tlvs.iter();
    size_of::<DeliverSm>()
        + texts.map(String::len).iter().sum::<usize>()
        + message.short_message.len()
        + tlvs
            .map(|tlv| size_of::<Tlv>() + tlv.value.len())
            .sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlv::Tlvs;

    #[test]
    fn a_text_is_cut_between_two_characters() {
        for (octets, max, text) in [
            ("abc".as_bytes(), 3, "abc"),
            (b"abcd", 3, "abc"),
            ("aé".as_bytes(), 2, "a"),
            ("aéb".as_bytes(), 3, "aé"),
            ("a€".as_bytes(), 3, "a"),
            (b"\xFF\xFF\xFF", 2, "\u{FFFD}\u{FFFD}"),
            (b"", 0, ""),
        ] {
            assert_eq!(text_within(octets, max), text, "{octets:?} {max}");
        }
    }

    #[test]
    fn every_field_of_a_deliver_sm_is_cut_to_its_maximum() {
        let long = vec![b'7'; 60_000];
        let address = AddressFields {
            ton: 1,
            npi: 1,
            digits: &long,
        };
        let unread = (0x1400..0x1500).map(|tag| Tlv::new(tag, long.clone()));
        let mut tlvs: Vec<Tlv> = unread.collect();
        tlvs.extend([
            Tlv::new(tag::MESSAGE_PAYLOAD, long.clone()),
            Tlv::new(tag::RECEIPTED_MESSAGE_ID, long.clone()),
            Tlv::new(tag::RECEIPTED_MESSAGE_ID, long.clone()),
            Tlv::new(tag::NETWORK_ERROR_CODE, long.clone()),
        ]);
        let sm = Sm {
            service_type: &long,
            source: address,
            destination: address,
            schedule: &long,
            validity_period: &long,
            tlvs: Tlvs::List(&tlvs),
            ..Sm::default()
        };
        let kept = received(&sm);
        assert_eq!(kept.destination.digits, "7".repeat(MAX_ADDRESS_OCTETS));
        let lengths = kept.tlvs.iter().map(|tlv| (tlv.tag, tlv.value.len()));
        let (unread, read): (Vec<_>, Vec<_>) = lengths.partition(|(tag, _)| *tag >= 0x1400);
        assert_eq!(
            unread,
            [
                0x1400, 0x1401, 0x1402, 0x1403, 0x1404, 0x1405, 0x1406, 0x1407
            ]
            .map(|tag| (tag, MAX_UNREAD_OCTETS))
        );
        assert_eq!(
            read,
            [
                (tag::MESSAGE_PAYLOAD, MAX_TEXT_OCTETS),
                (tag::RECEIPTED_MESSAGE_ID, MAX_MESSAGE_ID_OCTETS),
                (tag::NETWORK_ERROR_CODE, MAX_MESSAGE_ID_OCTETS),
            ]
        );
        assert!(octets_in_memory(&kept) < 8_000);
    }
}
