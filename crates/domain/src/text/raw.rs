//! Pages that a program has made itself: parts of a long text, and binary data. They go out as they
//! came.

use super::coded::{CodingFault, read_coded};
use super::gsm;

/// Maximum number of octets of a page, its header included.
const MAX_OCTETS: usize = 140;
/// Maximum number of septets of a page, its header included.
const MAX_SEPTETS: usize = 160;
/// Codings of SMPP: GSM 03.38, Latin 1, UTF-16, and binary data without and with a class.
const GSM: u8 = 0;
const LATIN_1: u8 = 3;
const UTF_16: u8 = 8;
const BINARY: [u8; 2] = [0x04, 0xF5];
/// The information element for concatenation with an 8-bit reference: kind and length.
const CONCATENATED: [u8; 2] = [0x00, 0x03];

/// A page as it goes out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RawPage {
    /// The `data_coding`.
    pub data_coding: u8,
    /// `true` if the octets begin with a user data header.
    pub has_header: bool,
    /// The octets, each with a septet in GSM 03.38.
    pub octets: Vec<u8>,
}

/// The position of a part by `sar_` parameters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SarPart {
    /// The reference that all parts share.
    pub reference: u16,
    /// The number of parts.
    pub total: u8,
    /// The number of this part, from 1.
    pub number: u8,
}

/// The reason why octets are no page.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PageFault {
    /// The coding is not supported.
    #[error(transparent)]
    Coding(#[from] CodingFault),
    /// The header is longer than the octets.
    #[error("the user data header is longer than the text")]
    Header,
    /// The octets do not fit into a page.
    #[error("the part or the binary data does not fit into one page of 140 octets")]
    TooLong,
}

/// Returns `true` if a `data_coding` is one of binary data.
pub fn is_binary(data_coding: u8) -> bool {
    BINARY.contains(&data_coding)
}

impl RawPage {
    /// Reads a part or binary data. `has_header` is `true` if the octets begin with a user data header.
    /// A part by `sar` parameters gets one, with the 8-bit reference.
    pub fn read(
        data_coding: u8,
        has_header: bool,
        octets: &[u8],
        sar: Option<SarPart>,
    ) -> Result<Self, PageFault> {
        let (header, text) = if has_header {
            split(octets).ok_or(PageFault::Header)?
        } else {
            (Vec::new(), octets)
        };
        let header = match sar.filter(|_| header.is_empty()) {
            Some(part) => {
                let [_, reference] = part.reference.to_be_bytes();
                let [kind, length] = CONCATENATED;
                vec![5, kind, length, reference, part.total, part.number]
            }
            None => header,
        };
        let page = |(data_coding, text): (u8, Vec<u8>)| Self {
            data_coding,
            has_header: !header.is_empty(),
            octets: [header.as_slice(), &text].concat(),
        };
        let forms = forms(data_coding, text)?;
        let mut pages = forms.into_iter().map(page);
        pages.find(Self::fits).ok_or(PageFault::TooLong)
    }

    /// Returns the readable text, for rules of content and for lists. That of binary data names it.
    pub(super) fn text(&self) -> String {
        let text = match split(&self.octets).filter(|_| self.has_header) {
            Some((_, text)) => text,
            None => &self.octets,
        };
        let readable = match self.data_coding {
            GSM => gsm::from_septets(text),
            UTF_16 => {
                let (pairs, _) = text.as_chunks::<2>();
                let units: Vec<u16> = pairs.iter().map(|&two| u16::from_be_bytes(two)).collect();
                String::from_utf16_lossy(&units)
            }
            LATIN_1 => text.iter().copied().map(char::from).collect(),
            _ => format!("Binary data, {} octets", text.len()),
        };
        // No database takes this character.
        readable.replace('\0', "\u{FFFD}")
    }

    /// Returns `true` if its text is UTF-16.
    pub(super) const fn is_utf_16(&self) -> bool {
        self.data_coding == UTF_16
    }

    fn fits(&self) -> bool {
        if self.data_coding != GSM {
            return self.octets.len() <= MAX_OCTETS;
        }
        let header = split(&self.octets).filter(|_| self.has_header);
        let header = header.map_or(0, |(header, _)| header.len());
        let septets = (header * 8).div_ceil(7) + (self.octets.len() - header);
        septets <= MAX_SEPTETS
    }

    /// Returns the stored form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let begin = [self.data_coding, u8::from(self.has_header)];
        [&begin, self.octets.as_slice()].concat()
    }

    /// Reads the stored form.
    pub fn from_bytes(stored: &[u8]) -> Option<Self> {
        let (&[data_coding, has_header], octets) = stored.split_first_chunk::<2>()?;
        Some(Self {
            data_coding,
            has_header: has_header != 0,
            octets: octets.to_vec(),
        })
    }
}

/// Splits octets into the user data header, with its length, and the text.
fn split(octets: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let length = usize::from(*octets.first()?);
    let (header, text) = octets.split_at_checked(1 + length)?;
    Some((header.to_vec(), text))
}

/// Returns the forms in which a text may go out, the best first. Only Latin 1 has several, since few
/// phones read it.
fn forms(data_coding: u8, text: &[u8]) -> Result<Vec<(u8, Vec<u8>)>, CodingFault> {
    let as_it_came = text.to_vec();
    match data_coding {
        // Escape pairs and surrogate pairs may be split, so the text alone may not be readable.
        0x00 | 0x01 | 0xF1 if text.is_ascii() => Ok(vec![(GSM, as_it_came)]),
        0x00 | 0x01 | 0xF1 => Err(CodingFault::NotGsm),
        UTF_16 if text.len().is_multiple_of(2) => Ok(vec![(UTF_16, as_it_came)]),
        UTF_16 => Err(CodingFault::NotUtf16),
        LATIN_1 => {
            let readable = read_coded(LATIN_1, text)?;
            let units = readable.encode_utf16().flat_map(u16::to_be_bytes);
            let septets = gsm::is_gsm(&readable).then(|| (GSM, gsm::septets(&readable)));
            let others = [(UTF_16, units.collect()), (LATIN_1, as_it_came)];
            Ok(septets.into_iter().chain(others).collect())
        }
        binary if is_binary(binary) => Ok(vec![(binary, as_it_came)]),
        other => Err(CodingFault::Coding(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Alphabet, Text};
    use super::*;

    const HEADER: [u8; 6] = [5, 0, 3, 7, 2, 1];
    const WIDE: [u8; 7] = [6, 8, 4, 1, 7, 2, 1];

    fn part(header: &[u8], text: &[u8]) -> Vec<u8> {
        [header, text].concat()
    }

    #[test]
    fn a_part_is_a_page_as_it_came() {
        let torn_escape = part(&HEADER, b"pay \x1B");
        let torn_surrogate = part(&WIDE, b"\0h\xD8\x3D");
        let table: [(u8, &[u8], u8, &str); 4] = [
            (0, &torn_escape, 0, "pay "),
            (1, &torn_escape, 0, "pay "),
            (8, &torn_surrogate, 8, "h\u{FFFD}"),
            (
                0xF5,
                &part(&[6, 5, 4, 0x0B, 0x84, 0x23, 0xF0], b"\x01\xFF"),
                0xF5,
                "Binary data, 2 octets",
            ),
        ];
        for (coding, octets, sent, readable) in table {
            let page = RawPage::read(coding, true, octets, None).unwrap();
            assert_eq!((page.data_coding, &*page.octets), (sent, octets));
            let text = Text::of_page(page.clone());
            assert_eq!((text.as_str(), text.page_count()), (readable, 1));
            assert_eq!(text.pages(), [octets]);
            assert_eq!(text.alphabet() == Alphabet::Ucs2, sent == 8);
            assert_eq!(RawPage::from_bytes(&page.to_bytes()), Some(page));
        }
        assert_eq!(RawPage::from_bytes(&[4]), None);
    }

    #[test]
    fn a_part_by_sar_gets_a_header() {
        let sar = SarPart {
            reference: 0x0107,
            total: 2,
            number: 1,
        };
        let page = RawPage::read(0, false, b"hello", Some(sar)).unwrap();
        assert!(page.has_header);
        assert_eq!(page.octets, part(&HEADER, b"hello"));
    }

    #[test]
    fn latin_1_is_converted_where_the_page_has_room() {
        let long = vec![0xE7; 134];
        let table: [(&[u8], u8, Vec<u8>); 3] = [
            (b"\xE9[", 0, vec![0x05, 0x1B, 0x3C]),
            (b"\xE7", 8, vec![0x00, 0xE7]),
            (&long, 3, long.clone()),
        ];
        for (written, coding, sent) in table {
            let page = RawPage::read(3, true, &part(&HEADER, written), None).unwrap();
            assert_eq!(page.data_coding, coding);
            assert_eq!(page.octets, part(&HEADER, &sent));
        }
    }

    #[test]
    fn a_page_has_140_octets_or_160_septets() {
        let table = [
            (0, &HEADER[..], 153, Ok(())),
            (0, &HEADER[..], 154, Err(PageFault::TooLong)),
            (0, &WIDE[..], 152, Ok(())),
            (0, &WIDE[..], 153, Err(PageFault::TooLong)),
            (8, &HEADER[..], 134, Ok(())),
            (8, &HEADER[..], 136, Err(PageFault::TooLong)),
            (4, &[], 140, Ok(())),
            (4, &[], 141, Err(PageFault::TooLong)),
            (8, &HEADER[..], 3, Err(CodingFault::NotUtf16.into())),
            (2, &HEADER[..], 3, Err(CodingFault::Coding(2).into())),
            (0, &[9], 3, Err(PageFault::Header)),
        ];
        for (coding, header, length, expected) in table {
            let octets = part(header, &vec![b'a'; length]);
            let read = RawPage::read(coding, !header.is_empty(), &octets, None);
            assert_eq!(read.map(|_| ()), expected, "{coding} {header:?} {length}");
        }
        assert_eq!(RawPage::read(0, true, b"", None), Err(PageFault::Header));
        let above = part(&HEADER, b"caf\xE9");
        let fault = RawPage::read(0, true, &above, None);
        assert_eq!(fault, Err(CodingFault::NotGsm.into()));
    }
}
