//! Normalises the text of a receipt for the search of labels. SMSCs often set a wrong
//! `data_coding`, so the octets decide. Labels, ids and states have the same octets in ASCII,
//! Latin-1 and the GSM default alphabet.

use super::text::Fields;
use crate::long::split_header;
use crate::pdu::DeliverSm;
use crate::tlv::tag;
use std::borrow::Cow;

/// Returns the text without its user data header, and UTF-16 as UTF-8.
pub(super) fn text(deliver: &DeliverSm) -> Cow<'_, [u8]> {
    let (_, octets) = split_header(deliver);
    decoded(octets)
}

/// Returns another interpretation of a text without labels: the payload of a `short_message`
/// without content, or unpacked septets.
pub(super) fn second_reading(deliver: &DeliverSm) -> Option<Vec<u8>> {
    let (_, octets) = split_header(deliver);
    let payload = deliver.tlv(tag::MESSAGE_PAYLOAD).unwrap_or_default();
    let readings = [decoded(payload).into_owned(), unpacked(octets)];
    let mut readings = readings.into_iter();
    readings.find(|text| Fields::find(text).have_id_and_state())
}

/// Converts UTF-16 of either byte order to UTF-8. Other octets are not changed.
fn decoded(octets: &[u8]) -> Cow<'_, [u8]> {
    if !octets.contains(&0) {
        return Cow::Borrowed(octets);
    }
    // Labels are ASCII, so in UTF-16 one octet of most pairs is zero. Text in other letters may
    // follow them.
    let pairs = octets.as_chunks::<2>().0;
    let high = pairs.iter().filter(|pair| pair[0] == 0 && pair[1] != 0);
    let low = pairs.iter().filter(|pair| pair[0] != 0 && pair[1] == 0);
    let (high, low) = (high.count(), low.count());
    let unit = match () {
        () if 4 * high > pairs.len() && high > low => u16::from_be_bytes,
        () if 4 * low > pairs.len() && low > high => u16::from_le_bytes,
        () => return Cow::Borrowed(octets),
    };
    let units = pairs.iter().map(|&pair| unit(pair));
    let letters = char::decode_utf16(units).map(|one| one.unwrap_or(char::REPLACEMENT_CHARACTER));
    Cow::Owned(letters.collect::<String>().into_bytes())
}

/// Unpacks septets to one octet each (3GPP TS 23.038, section 6.1.2.1).
fn unpacked(octets: &[u8]) -> Vec<u8> {
    let mut septets = Vec::with_capacity(octets.len() * 8 / 7);
    let (mut bits, mut count) = (0_u16, 0);
    for &octet in octets {
        bits |= u16::from(octet) << count;
        count += 8;
        while count >= 7 {
            let [septet, _] = (bits & 0x7F).to_le_bytes();
            septets.push(septet);
            bits >>= 7;
            count -= 7;
        }
    }
    septets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_of_other_alphabets_stay_as_they_are() {
        for octets in [
            &b"id:1 stat:DELIVRD"[..],
            b"id:1 stat:DELIVRD\0",
            b"id:1 stat:DELIVRD\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            b"\0",
            b"",
        ] {
            assert_eq!(decoded(octets), octets);
        }
    }

    #[test]
    fn packed_septets_are_unpacked() {
        // The usual example "hello".
        assert_eq!(unpacked(&[0xE8, 0x32, 0x9B, 0xFD, 0x06]), b"hello");
    }
}
