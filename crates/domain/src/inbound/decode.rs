//! The texts of carriers as characters.

use crate::text::from_septets;

/// The alphabet of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Alphabet {
    Gsm,
    Latin1,
    Ucs2,
}

/// Returns the alphabet of a `data_coding` (SMPP 3.4, section 5.2.19). Carriers also pass on the
/// values of GSM 03.38, with a message class or an indication of waiting messages. Octets without a
/// known alphabet are read as Latin 1, which has a character for each of them.
fn alphabet(data_coding: u8) -> Alphabet {
    match data_coding {
        0x00 | 0x10..=0x13 | 0xC0..=0xDF | 0xF0..=0xF3 | 0xF8..=0xFB => Alphabet::Gsm,
        0x08 | 0x18..=0x1B | 0xE0..=0xEF => Alphabet::Ucs2,
        _ => Alphabet::Latin1,
    }
}

/// Returns the text of these octets. No octets are refused: a character that cannot be read becomes
/// U+FFFD. So does U+0000, which databases and files do not take.
pub fn decode(data_coding: u8, octets: &[u8]) -> String {
    let text = match alphabet(data_coding) {
        Alphabet::Gsm => from_septets(octets),
        Alphabet::Latin1 => octets.iter().map(|&octet| char::from(octet)).collect(),
        Alphabet::Ucs2 => utf16(octets),
    };
    text.replace('\0', "\u{FFFD}")
}

/// Returns UTF-16, which phones send for UCS-2. The order of octets is that of the network unless
/// the text begins with the mark of the other order.
fn utf16(octets: &[u8]) -> String {
    let (octets, unit): (_, fn([u8; 2]) -> u16) = match octets {
        [0xFF, 0xFE, rest @ ..] => (rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => (rest, u16::from_be_bytes),
        _ => (octets, u16::from_be_bytes),
    };
    let pairs = octets.as_chunks::<2>().0;
    let letters = char::decode_utf16(pairs.iter().map(|&pair| unit(pair)));
    letters
        .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_decoded_by_its_data_coding() {
        let table: [(u8, &[u8], &str); 15] = [
            (0, b"Yes, I will", "Yes, I will"),
            (0, b"\x00\x02\x09", "@$Ç"),
            (0, b"\x1B\x65 5 \x1B\x28x\x1B\x29", "€ 5 {x}"),
            // An escape before another septet, and an octet that is no septet.
            (0, b"\x1BA\xC9", "A\u{FFFD}"),
            (0x10, b"Hi", "Hi"),
            (0xF1, b"Hi", "Hi"),
            (1, b"a@b.ng", "a@b.ng"),
            (3, b"caf\xE9 @", "café @"),
            (4, b"\x01\xFF", "\u{1}ÿ"),
            (0xF5, b"\xE9", "é"),
            (8, b"\x1E\xCC\x00k", "Ọk"),
            (8, b"\xD8\x3D\xDE\x00", "😀"),
            (8, b"\xD8\x3D\x00A\x00", "\u{FFFD}A"),
            (0x19, b"\xFF\xFEA\x00", "A"),
            (3, b"a\0b", "a\u{FFFD}b"),
        ];
        for (data_coding, octets, expected) in table {
            assert_eq!(decode(data_coding, octets), expected, "{data_coding}");
        }
    }
}
