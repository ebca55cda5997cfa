//! Multipart messages. Their pages are joined by a user data header (3GPP TS 23.040, section
//! 9.2.3.24.1), or by SAR parameters that some SMSCs use instead (SMPP 3.4, section 5.3.2.22 ff.).

use crate::pdu::{ShortMessage, esm_class};
use crate::tlv::tag;

/// Information elements for concatenation, with an 8-bit and a 16-bit reference.
const CONCATENATED: u8 = 0x00;
const CONCATENATED_WIDE: u8 = 0x08;

/// Returns the header of a page: 8-bit reference, number of pages, and number of this page from 1.
/// It precedes the text, needs [`UDHI`](crate::esm_class::UDHI), and leaves 153 septets or 67
/// UTF-16 units.
pub const fn udh(reference: u8, total: u8, number: u8) -> [u8; 6] {
    [5, 0, 3, reference, total, number]
}

/// The position of a segment in its multipart message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment {
    /// The reference that all segments of the message share.
    pub reference: u16,
    /// The number of segments, at least two.
    pub total: u8,
    /// The number of this segment, from 1 to `total`.
    pub number: u8,
}

impl Segment {
    /// Returns the position of a message that is one of several segments, by its user data header
    /// or its SAR parameters.
    pub fn of(message: &ShortMessage) -> Option<Self> {
        let (header, _) = split_header(message);
        let segment = header.and_then(in_header).or_else(|| in_tlvs(message))?;
        let is_one = segment.total > 1 && (1..=segment.total).contains(&segment.number);
        is_one.then_some(segment)
    }
}

/// Returns the text of a message without its user data header.
pub fn content(message: &ShortMessage) -> &[u8] {
    split_header(message).1
}

/// Returns the elements of the user data header, if there is one, and the text after it.
pub(crate) fn split_header(message: &ShortMessage) -> (Option<&[u8]>, &[u8]) {
    let octets = message.text();
    if message.esm_class & esm_class::UDHI != 0
        && let [length, rest @ ..] = octets
        && let Some((header, text)) = rest.split_at_checked(usize::from(*length))
        && elements(header)
            .map(|(_, value)| value.len() + 2)
            .sum::<usize>()
            == header.len()
    {
        return (Some(header), text);
    }
    // Some peers set the flag without a header.
    (None, octets)
}

/// Returns the information elements of a header as kind and value. They end at one that exceeds the
/// header.
fn elements(mut header: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, length], rest) = header.split_first_chunk::<2>()?;
        let (value, rest) = rest.split_at_checked(usize::from(length))?;
        header = rest;
        Some((kind, value))
    })
}

fn in_header(header: &[u8]) -> Option<Segment> {
    elements(header).find_map(|element| match element {
        (CONCATENATED, &[reference, total, number]) => Some(Segment {
            reference: reference.into(),
            total,
            number,
        }),
        (CONCATENATED_WIDE, &[high, low, total, number]) => Some(Segment {
            reference: u16::from_be_bytes([high, low]),
            total,
            number,
        }),
        _ => None,
    })
}

fn in_tlvs(message: &ShortMessage) -> Option<Segment> {
    let octet = |tag| message.tlv(tag).and_then(|value| value.last().copied());
    let (high, low) = match message.tlv(tag::SAR_MSG_REF_NUM)? {
        [.., high, low] => (*high, *low),
        [low] => (0, *low),
        [] => return None,
    };
    Some(Segment {
        reference: u16::from_be_bytes([high, low]),
        total: octet(tag::SAR_TOTAL_SEGMENTS)?,
        number: octet(tag::SAR_SEGMENT_SEQNUM)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlv::Tlv;

    #[test]
    fn a_user_data_header_has_these_octets() {
        assert_eq!(super::udh(0xAB, 3, 2), [0x05, 0x00, 0x03, 0xAB, 3, 2]);
    }

    fn message(esm_class: u8, octets: &[u8], tlvs: Vec<Tlv>) -> ShortMessage {
        ShortMessage {
            esm_class,
            short_message: octets.to_vec().into(),
            tlvs,
            ..ShortMessage::default()
        }
    }

    #[test]
    fn a_segment_is_known_by_header_or_parameters() {
        let sar = |total: u8, number: u8| {
            vec![
                Tlv::new(tag::SAR_MSG_REF_NUM, &[1, 2][..]),
                Tlv::new(tag::SAR_TOTAL_SEGMENTS, vec![total]),
                Tlv::new(tag::SAR_SEGMENT_SEQNUM, vec![number]),
            ]
        };
        let table = [
            (
                0x44,
                &b"\x05\x00\x03\x07\x02\x01id:1"[..],
                vec![],
                Some((7, 2, 1)),
                &b"id:1"[..],
            ),
            (
                0x44,
                b"\x06\x08\x04\x01\x02\x03\x03x",
                vec![],
                Some((0x102, 3, 3)),
                b"x",
            ),
            (
                0x44,
                b"\x09\x05\x02ab\x00\x03\x07\x02\x02x",
                vec![],
                Some((7, 2, 2)),
                b"x",
            ),
            (0x04, b"id:1", sar(2, 2), Some((0x102, 2, 2)), b"id:1"),
            // One segment alone, numbers beyond the total, a flag without a header.
            (0x44, b"\x05\x00\x03\x07\x01\x01x", vec![], None, b"x"),
            (0x44, b"\x05\x00\x03\x07\x02\x03x", vec![], None, b"x"),
            (0x04, b"x", sar(2, 0), None, b"x"),
            (
                0x44,
                b"id:1 stat:DELIVRD",
                vec![],
                None,
                b"id:1 stat:DELIVRD",
            ),
            (
                0x04,
                b"\x05\x00\x03\x07\x02\x01x",
                vec![],
                None,
                b"\x05\x00\x03\x07\x02\x01x",
            ),
            (0x40, b"", vec![], None, b""),
        ];
        for (esm_class, octets, tlvs, expected, text) in table {
            let message = message(esm_class, octets, tlvs);
            let found = Segment::of(&message);
            let found = found.map(|found| (found.reference, found.total, found.number));
            assert_eq!(found, expected, "{octets:?}");
            assert_eq!(split_header(&message).1, text);
        }
    }
}
