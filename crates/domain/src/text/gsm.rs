//! The GSM 7 bit default alphabet and its extension table (3GPP TS 23.038, 6.2.1).

use std::sync::LazyLock;

/// The septet before a character of the extension table.
pub(super) const ESCAPE: u8 = 0x1B;
/// Number of septets.
const SEPTETS: usize = 128;

/// The code of a character.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Code {
    /// One septet of the default alphabet.
    Basic(u8),
    /// The escape, then this septet.
    Extended(u8),
}

/// The characters of both tables by their septets.
struct Characters {
    basic: [Option<char>; SEPTETS],
    extended: [Option<char>; SEPTETS],
}

/// All characters of the alphabet precede U+20AD. A search for each one of a long text would block
/// a thread for a second.
static CHARACTERS: LazyLock<Characters> = LazyLock::new(|| {
    let (mut basic, mut extended) = ([None; SEPTETS], [None; SEPTETS]);
    for character in '\n'..='\u{20AC}' {
        match code(character) {
            Some(Code::Basic(septet)) => basic[usize::from(septet)] = Some(character),
            Some(Code::Extended(septet)) => extended[usize::from(septet)] = Some(character),
            None => {}
        }
    }
    Characters { basic, extended }
});

/// Returns the code of a character, if the alphabet has it.
///
/// The form feed of the extension table is left out, because no phone shows it.
pub(super) const fn code(character: char) -> Option<Code> {
    let basic = match character {
        // In these ranges the alphabet equals ASCII.
        ' '..='#' | '%'..='?' | 'A'..='Z' | 'a'..='z' | '\n' | '\r' => character as u8,
        '@' => 0x00,
        '£' => 0x01,
        '$' => 0x02,
        '¥' => 0x03,
        'è' => 0x04,
        'é' => 0x05,
        'ù' => 0x06,
        'ì' => 0x07,
        'ò' => 0x08,
        'Ç' => 0x09,
        'Ø' => 0x0B,
        'ø' => 0x0C,
        'Å' => 0x0E,
        'å' => 0x0F,
        'Δ' => 0x10,
        '_' => 0x11,
        'Φ' => 0x12,
        'Γ' => 0x13,
        'Λ' => 0x14,
        'Ω' => 0x15,
        'Π' => 0x16,
        'Ψ' => 0x17,
        'Σ' => 0x18,
        'Θ' => 0x19,
        'Ξ' => 0x1A,
        'Æ' => 0x1C,
        'æ' => 0x1D,
        'ß' => 0x1E,
        'É' => 0x1F,
        '¤' => 0x24,
        '¡' => 0x40,
        'Ä' => 0x5B,
        'Ö' => 0x5C,
        'Ñ' => 0x5D,
        'Ü' => 0x5E,
        '§' => 0x5F,
        '¿' => 0x60,
        'ä' => 0x7B,
        'ö' => 0x7C,
        'ñ' => 0x7D,
        'ü' => 0x7E,
        'à' => 0x7F,
        _ => return extended(character),
    };
    Some(Code::Basic(basic))
}

const fn extended(character: char) -> Option<Code> {
    let code = match character {
        '^' => 0x14,
        '{' => 0x28,
        '}' => 0x29,
        '\\' => 0x2F,
        '[' => 0x3C,
        '~' => 0x3D,
        ']' => 0x3E,
        '|' => 0x40,
        '€' => 0x65,
        _ => return None,
    };
    Some(Code::Extended(code))
}

/// Returns `true` if the text is ASCII and in the alphabet, which is the common case.
pub(super) fn is_ascii_gsm(text: &str) -> bool {
    let is_other = |byte| !matches!(byte, b' '..=b'_' | b'a'..=b'~' | b'\n' | b'\r');
    // A loop to the end compiles to vector instructions, unlike one that stops early. A count does
    // so too, but in words eight times as wide.
    !text
        .bytes()
        .fold(false, |found, byte| found | is_other(byte))
}

/// Returns `true` if every character is in the alphabet.
pub(super) fn is_gsm(text: &str) -> bool {
    is_ascii_gsm(text) || text.chars().all(|character| code(character).is_some())
}

/// Returns `true` if an ASCII character is in the extension table.
const fn is_extended(byte: u8) -> bool {
    matches!(byte, b'^' | b'{' | b'}' | b'\\' | b'[' | b'~' | b']' | b'|')
}

/// Returns the number of septets of the text. Characters outside the alphabet have none.
pub(super) fn septet_count(text: &str) -> usize {
    if text.is_ascii() {
        // The count of a chunk fits into a byte, so that a vector has more counters than with
        // words.
        let escapes = text.as_bytes().chunks(usize::from(u8::MAX)).map(|some| {
            let escapes: u8 = some.iter().map(|&byte| u8::from(is_extended(byte))).sum();
            usize::from(escapes)
        });
        return text.len() + escapes.sum::<usize>();
    }
    text.chars()
        .map(|character| match code(character) {
            Some(Code::Basic(_)) => 1,
            Some(Code::Extended(_)) => 2,
            None => 0,
        })
        .sum()
}

/// Returns the septets of the text, one in each octet. Characters outside the alphabet are left
/// out.
pub(super) fn septets(text: &str) -> Vec<u8> {
    let mut septets = Vec::with_capacity(text.len());
    for character in text.chars() {
        match code(character) {
            Some(Code::Basic(code)) => septets.push(code),
            Some(Code::Extended(code)) => septets.extend([ESCAPE, code]),
            None => {}
        }
    }
    septets
}

/// Returns the text of septets, one in each octet. A septet that the extension table does not have
/// stands for itself, and an octet that is no septet for U+FFFD (3GPP TS 23.038, 6.2.1.1).
pub(crate) fn from_septets(septets: &[u8]) -> String {
    let mut septets = septets.iter().copied();
    let mut text = String::with_capacity(septets.len());
    while let Some(septet) = septets.next() {
        if septet != ESCAPE {
            text.push(character(Code::Basic(septet)));
        } else if let Some(next) = septets.next() {
            let extended = find(Code::Extended(next));
            text.push(extended.unwrap_or_else(|| character(Code::Basic(next))));
        }
    }
    text
}

fn character(code: Code) -> char {
    find(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the character of a code.
fn find(code: Code) -> Option<char> {
    let (table, septet) = match code {
        Code::Basic(septet) => (&CHARACTERS.basic, septet),
        Code::Extended(septet) => (&CHARACTERS.extended, septet),
    };
    table.get(usize::from(septet)).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The default alphabet in the order of its codes, as the standard prints it.
    const ALPHABET: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u{1B}ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?\
        ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";

    #[test]
    fn the_alphabet_is_that_of_the_standard() {
        assert_eq!(ALPHABET.chars().count(), 128);
        let mut known = 0;
        for (septet, character) in (0u8..).zip(ALPHABET.chars()) {
            if septet != ESCAPE {
                assert_eq!(code(character), Some(Code::Basic(septet)), "{character:?}");
                known += 1;
            }
        }
        for character in "^{}\\[~]|€".chars() {
            assert!(matches!(code(character), Some(Code::Extended(_))));
            known += 1;
        }
        let all = ('\0'..=char::MAX).filter(|&c| code(c).is_some()).count();
        assert_eq!(all, known, "nothing else is in it");
    }

    #[test]
    fn the_fast_paths_agree_with_the_table() {
        for character in '\0'..='\u{FF}' {
            let text = character.to_string();
            assert_eq!(
                is_ascii_gsm(&text),
                character.is_ascii() && code(character).is_some()
            );
            assert_eq!(is_gsm(&text), code(character).is_some());
            if is_gsm(&text) {
                assert_eq!(septet_count(&text), septets(&text).len());
            }
        }
    }

    #[test]
    fn each_code_is_read_back_as_its_character() {
        let all = ('\0'..=char::MAX).filter_map(|character| Some((code(character)?, character)));
        for (code, character) in all {
            assert_eq!(find(code), Some(character));
        }
        assert_eq!(find(Code::Basic(ESCAPE)), None);
        for octet in 0x80..=0xFF {
            assert_eq!(find(Code::Basic(octet)), None, "{octet}");
            assert_eq!(find(Code::Extended(octet)), None, "{octet}");
        }
    }
}
