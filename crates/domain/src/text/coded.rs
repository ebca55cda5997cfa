//! Texts as SMPP clients write them: octets with a `data_coding` (SMPP 3.4, section 5.2.19).

use super::gsm;

/// The reason why octets are not the text of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CodingFault {
    /// The coding is not supported, or of no text.
    #[error("the data_coding {0} is not supported: use 0, 1, 3, 4, 8, 241 or 245")]
    Coding(u8),
    /// An octet stands for no character of GSM 03.38, such as one above 0x7F.
    #[error("an octet stands for no character of GSM 03.38")]
    NotGsm,
    /// The octets of UTF-16 are odd in number, or a surrogate has no other half.
    #[error("the text is not well-formed UTF-16")]
    NotUtf16,
}

/// Reads the text of a message. Codings 0, 1 and 241 are GSM 03.38 with a septet in each octet, 3 is
/// Latin 1, and 8 is UTF-16 in big endian.
pub fn read_coded(data_coding: u8, octets: &[u8]) -> Result<String, CodingFault> {
    match data_coding {
        0x00 | 0x01 | 0xF1 => septets(octets).ok_or(CodingFault::NotGsm),
        0x03 => Ok(octets.iter().copied().map(char::from).collect()),
        0x08 => utf16(octets).ok_or(CodingFault::NotUtf16),
        other => Err(CodingFault::Coding(other)),
    }
}

/// Returns the text of septets, or `None` if one of them stands for no character.
fn septets(octets: &[u8]) -> Option<String> {
    let text = gsm::from_septets(octets);
    (!text.contains(char::REPLACEMENT_CHARACTER)).then_some(text)
}

fn utf16(octets: &[u8]) -> Option<String> {
    let (pairs, rest) = octets.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|&two| u16::from_be_bytes(two)).collect();
    String::from_utf16(&units).ok().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::Text;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_coding_is_read_by_its_alphabet() {
        let table: [(u8, &[u8], Result<&str, CodingFault>); 13] = [
            (0, b"Hello \x00 \x02\x11", Ok("Hello @ $_")),
            (1, b"\x1B\x65 \x1B\x3C\x1B\x3E", Ok("\u{20AC} []")),
            (0xF1, b"ok", Ok("ok")),
            (3, b"gar\xE7on `", Ok("gar\u{E7}on `")),
            (8, b"\x1E\xB9\xD8\x3D\xDE\x00", Ok("\u{1EB9}\u{1F600}")),
            (8, b"", Ok("")),
            (0, b"\x1B\x0A!", Ok("\n!")),
            (0, b"end\x1B", Ok("end")),
            (0, b"caf\xE9", Err(CodingFault::NotGsm)),
            (8, b"\x1E\xB9\xD8", Err(CodingFault::NotUtf16)),
            (8, b"\xD8\x3D", Err(CodingFault::NotUtf16)),
            (4, b"\x01", Err(CodingFault::Coding(4))),
            (0xF5, b"\x01", Err(CodingFault::Coding(0xF5))),
        ];
        for (coding, octets, expected) in table {
            let read = read_coded(coding, octets);
            assert_eq!(
                read.as_deref().map_err(|fault| *fault),
                expected,
                "{octets:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_text_is_read_back_from_its_own_page(text in "[ -_a-~@\u{A3}\u{E9}\u{394}\u{20AC}\n]{1,70}") {
            let text = Text::from_stored(text);
            prop_assert_eq!(read_coded(0, &text.pages().concat()).unwrap(), text.as_str());
        }
    }
}
