//! A receipt that its SMSC cut into segments.

use super::plain;
use crate::long::Segment;
use crate::pdu::{DeliverSm, esm_class};
use crate::tlv::tag;

/// The parameters that belong to a segment alone.
const OF_A_SEGMENT: [u16; 4] = [
    tag::SAR_MSG_REF_NUM,
    tag::SAR_TOTAL_SEGMENTS,
    tag::SAR_SEGMENT_SEQNUM,
    tag::MESSAGE_PAYLOAD,
];

/// One message of the segments of a receipt, which are in their order: its text is theirs, and it has the optional
/// parameters of all. Where segments are missing the text ends with the last whole word before the first of them.
pub fn join(segments: &[DeliverSm]) -> DeliverSm {
    let Some(first) = segments.first() else {
        return DeliverSm::default();
    };
    let (mut text, mut count) = (Vec::new(), 0_u8);
    let mut total = 0;
    for segment in segments {
        let Some(place) = Segment::of(segment) else {
            break;
        };
        total = place.total;
        if place.number != count + 1 {
            break;
        }
        count = place.number;
        text.extend_from_slice(&plain::text(segment));
    }
    if count < total {
        let end = text.iter().rposition(u8::is_ascii_whitespace);
        text.truncate(end.unwrap_or(0));
    }
    let tlvs = segments.iter().flat_map(|segment| &segment.tlvs);
    DeliverSm {
        esm_class: first.esm_class & !esm_class::UDHI,
        data_coding: 0,
        short_message: text.into(),
        tlvs: tlvs
            .filter(|tlv| !OF_A_SEGMENT.contains(&tlv.tag))
            .cloned()
            .collect(),
        ..first.clone()
    }
}
