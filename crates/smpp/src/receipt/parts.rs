//! Receipts that an SMSC cut into segments.

use super::plain;
use crate::long::Segment;
use crate::pdu::{DeliverSm, esm_class};
use crate::tlv::tag;

/// The parameters that differ between segments.
const SEGMENT_TAGS: [u16; 4] = [
    tag::SAR_MSG_REF_NUM,
    tag::SAR_TOTAL_SEGMENTS,
    tag::SAR_SEGMENT_SEQNUM,
    tag::MESSAGE_PAYLOAD,
];

/// Joins the segments of a receipt, which must be in order. The result has the joined text and the
/// optional parameters of all segments. If a segment is missing, the text ends with the last
/// complete word before it.
pub fn join(segments: &[DeliverSm]) -> DeliverSm {
    let Some(first) = segments.first() else {
        return DeliverSm::default();
    };
    let (mut text, mut count) = (Vec::new(), 0_u8);
    let mut total = 0;
    for segment in segments {
        let Some(position) = Segment::of(segment) else {
            break;
        };
        total = position.total;
        if position.number != count + 1 {
            break;
        }
        count = position.number;
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
            .filter(|tlv| !SEGMENT_TAGS.contains(&tlv.tag))
            .cloned()
            .collect(),
        ..first.clone()
    }
}
