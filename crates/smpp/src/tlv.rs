//! Optional parameters: tag, length, value (SMPP 3.4, section 5.3.2).

use bytes::Bytes;

/// The tags that this crate uses.
pub mod tag {
    /// The message id of a receipt, often without its NUL.
    pub const RECEIPTED_MESSAGE_ID: u16 = 0x001E;
    /// SAR: the reference of a multipart message, 2 octets.
    pub const SAR_MSG_REF_NUM: u16 = 0x020C;
    /// SAR: the number of parts, 1 octet.
    pub const SAR_TOTAL_SEGMENTS: u16 = 0x020E;
    /// SAR: the index of this part, 1 octet.
    pub const SAR_SEGMENT_SEQNUM: u16 = 0x020F;
    /// The version in a bind response, 1 octet. A missing one means 3.3.
    pub const SC_INTERFACE_VERSION: u16 = 0x0210;
    /// The network type and error, 1 octet and 2 octets.
    pub const NETWORK_ERROR_CODE: u16 = 0x0423;
    /// The text if `short_message` is empty.
    pub const MESSAGE_PAYLOAD: u16 = 0x0424;
    /// The state of the message, 1 octet.
    pub const MESSAGE_STATE: u16 = 0x0427;

    /// Returns `true` if the parameter carries the text or joins its parts, so that it must not be
    /// left out.
    pub(crate) const fn is_content(tag: u16) -> bool {
        matches!(
            tag,
            MESSAGE_PAYLOAD | SAR_MSG_REF_NUM | SAR_TOTAL_SEGMENTS | SAR_SEGMENT_SEQNUM
        )
    }

    /// The parameters of a `deliver_sm` that are read. All of them are kept.
    pub(crate) const READ: [u16; 8] = [
        RECEIPTED_MESSAGE_ID,
        SAR_MSG_REF_NUM,
        SAR_TOTAL_SEGMENTS,
        SAR_SEGMENT_SEQNUM,
        SC_INTERFACE_VERSION,
        NETWORK_ERROR_CODE,
        MESSAGE_PAYLOAD,
        MESSAGE_STATE,
    ];
}

/// One optional parameter.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tlv {
    /// The tag, one of [`tag`] or another value.
    pub tag: u16,
    /// The value, at most 65,535 octets.
    pub value: Bytes,
}

impl Tlv {
    /// Creates a parameter.
    pub fn new(tag: u16, value: impl Into<Bytes>) -> Self {
        Self {
            tag,
            value: value.into(),
        }
    }
}

/// The optional parameters of a PDU: encoded or as a list.
#[derive(Clone, Copy, Debug)]
pub enum Tlvs<'a> {
    /// The encoded parameters.
    Wire(&'a [u8]),
    /// A list of parameters.
    List(&'a [Tlv]),
}

impl Default for Tlvs<'_> {
    fn default() -> Self {
        Self::Wire(&[])
    }
}

impl<'a> Tlvs<'a> {
    /// Returns the value of the first parameter with this tag.
    pub fn get(self, tag: u16) -> Option<&'a [u8]> {
        self.into_iter()
            .find_map(|(found, value)| (found == tag).then_some(value))
    }

    /// Returns owned copies.
    pub fn to_vec(self) -> Vec<Tlv> {
        self.into_iter()
            .map(|(tag, value)| Tlv::new(tag, Bytes::copy_from_slice(value)))
            .collect()
    }
}

impl<'a> IntoIterator for Tlvs<'a> {
    type Item = (u16, &'a [u8]);
    type IntoIter = TlvIter<'a>;

    fn into_iter(self) -> TlvIter<'a> {
        TlvIter(self)
    }
}

/// An iterator over parameters in order. One to three octets at the end are ignored, and an
/// overlong value ends with the PDU. Both occur in practice.
#[derive(Clone, Debug)]
pub struct TlvIter<'a>(Tlvs<'a>);

impl<'a> Iterator for TlvIter<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Tlvs::List(list) => {
                let (first, rest) = list.split_first()?;
                *list = rest;
                Some((first.tag, &first.value))
            }
            Tlvs::Wire(octets) => {
                let (&[t0, t1, l0, l1], rest) = octets.split_first_chunk::<4>()?;
                let length = usize::from(u16::from_be_bytes([l0, l1])).min(rest.len());
                let (value, rest) = rest.split_at(length);
                *octets = rest;
                Some((u16::from_be_bytes([t0, t1]), value))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stray_octets_and_an_overlong_value_are_tolerated() {
        let wire = Tlvs::Wire(&[0x04, 0x27, 0, 1, 2, 0x00, 0x1E, 0, 9, b'a', b'b']);
        assert_eq!(
            wire.into_iter().collect::<Vec<_>>(),
            [
                (tag::MESSAGE_STATE, &b"\x02"[..]),
                (tag::RECEIPTED_MESSAGE_ID, b"ab")
            ]
        );
        assert_eq!(Tlvs::Wire(&[1, 2, 3]).into_iter().count(), 0);
    }
}
