//! The plain text for `unicode = false`: GSM 03.38 without accents and emoji.

use super::equivalents::EQUIVALENTS;
use super::gsm;
use std::sync::LazyLock;

/// 𝐀, the first of thirteen mathematical styles of letters.
const STYLED_LETTERS: u32 = 0x1_D400;
/// 𝟎, the first of five styles of digits.
const STYLED_DIGITS: u32 = 0x1_D7CE;
/// The distance of full-width forms from ASCII.
const FULL_WIDTH: u32 = 0xFEE0;
/// The variation selector that shows the previous character as an emoji.
const EMOJI_STYLE: char = '\u{FE0F}';
/// The mark that shows the previous digit as a key.
const KEYCAP: char = '\u{20E3}';

/// The table of equivalents, sorted by character.
static BY_CHARACTER: LazyLock<Vec<(char, &'static str)>> = LazyLock::new(|| {
    let mut pairs: Vec<_> = EQUIVALENTS
        .iter()
        .flat_map(|&(plain, characters)| {
            characters.chars().map(move |character| (character, plain))
        })
        .collect();
    pairs.sort_unstable();
    pairs
});

/// The treatment of a character.
enum Treatment {
    /// The character is plain, or plain without its style.
    Plain(char),
    /// The character is replaced by a text.
    Replaced(&'static str),
    /// The character is invisible, and is removed.
    Invisible,
    /// The character is visible without an equivalent. It is removed with the double space around
    /// it.
    Removed,
}

/// Returns the plain text, see [`Text::prepare`](super::Text::prepare).
pub(crate) fn plain(body: &str) -> String {
    counted(body).0
}

/// Returns the plain text, and the number of removed visible characters.
pub(super) fn counted(body: &str) -> (String, usize) {
    made_plain(body, |_, _| {})
}

/// Returns the same, and passes each replaced or removed character to `changed`.
pub(super) fn made_plain(body: &str, mut changed: impl FnMut(char, &str)) -> (String, usize) {
    if gsm::is_ascii_gsm(body) {
        return (body.to_owned(), 0);
    }
    let mut removed = 0;
    let mut plain = Plain::with_capacity(body.len());
    let mut rest = body.chars();
    while let Some(character) = rest.next() {
        if is_emoji_by_context(character, rest.as_str()) {
            removed += 1;
            changed(character, "");
            plain.gap();
            continue;
        }
        match treatment(character) {
            Treatment::Plain(plain_character) => {
                if plain_character != character {
                    changed(character, plain_character.encode_utf8(&mut [0; 4]));
                }
                plain.push(plain_character);
            }
            Treatment::Replaced(equivalent) => {
                changed(character, equivalent);
                plain.push_str(equivalent);
            }
            Treatment::Invisible => changed(character, ""),
            Treatment::Removed => {
                removed += 1;
                changed(character, "");
                plain.gap();
            }
        }
    }
    (plain.text, removed)
}

/// The plain text so far, and `true` after a removed character.
struct Plain {
    text: String,
    after_gap: bool,
}

impl Plain {
    fn with_capacity(capacity: usize) -> Self {
        Self {
            text: String::with_capacity(capacity),
            after_gap: false,
        }
    }

    fn push(&mut self, character: char) {
        if character == ' ' {
            if self.after_gap && self.text.ends_with(' ') {
                return;
            }
        } else {
            self.after_gap = false;
        }
        self.text.push(character);
    }

    fn push_str(&mut self, equivalent: &str) {
        let is_fraction =
            equivalent.starts_with(|c: char| c.is_ascii_digit()) && equivalent.contains('/');
        if is_fraction && self.text.ends_with(|c: char| c.is_ascii_digit()) {
            // 1½ must not become 11/2.
            self.push(' ');
        }
        equivalent
            .chars()
            .for_each(|character| self.push(character));
    }

    /// Records a removed visible character. The spaces on both sides of it become one.
    fn gap(&mut self) {
        while self.text.ends_with("  ") {
            self.text.pop();
        }
        self.after_gap = true;
    }
}

fn treatment(character: char) -> Treatment {
    if is_plain(character) {
        return Treatment::Plain(character);
    }
    if let Some(letter) = unstyled(character).filter(|&letter| is_plain(letter)) {
        return Treatment::Plain(letter);
    }
    if let Ok(at) = BY_CHARACTER.binary_search_by_key(&character, |pair| pair.0) {
        return Treatment::Replaced(BY_CHARACTER[at].1);
    }
    if is_unseen(character) {
        Treatment::Invisible
    } else {
        Treatment::Removed
    }
}

/// Returns `true` if a character is sent unchanged: it is in the alphabet, and no accented or
/// joined letter.
fn is_plain(character: char) -> bool {
    const SIGNS_AND_CAPITALS: &str = "£¥§¿¡¤€ΔΦΓΛΩΠΨΣΘΞ";
    if character.is_ascii() {
        gsm::code(character).is_some()
    } else {
        SIGNS_AND_CAPITALS.contains(character)
    }
}

/// Returns the ASCII character of a full-width form or a mathematical style (𝐁, 𝓫, 𝟗).
fn unstyled(character: char) -> Option<char> {
    let code = u32::from(character);
    let (first, offset) = match code {
        0xFF01..=0xFF5E => return char::from_u32(code - FULL_WIDTH),
        STYLED_LETTERS..=0x1_D6A3 => match (code - STYLED_LETTERS) % 52 {
            capital @ 0..26 => ('A', capital),
            small => ('a', small - 26),
        },
        STYLED_DIGITS..=0x1_D7FF => ('0', (code - STYLED_DIGITS) % 10),
        _ => return None,
    };
    char::from_u32(u32::from(first) + offset)
}

/// Returns `true` if the next characters make an emoji of this one: a digit on a key, or a sign
/// such as © with a variation selector.
fn is_emoji_by_context(character: char, rest: &str) -> bool {
    match character {
        '0'..='9' | '#' | '*' => rest
            .strip_prefix(EMOJI_STYLE)
            .unwrap_or(rest)
            .starts_with(KEYCAP),
        '©' | '®' | '‼' | '⁉' | '™' | 'ℹ' | '↔' | 'Ⓜ' | '▪' | '▫' | '✖' | '➡' => {
            rest.starts_with(EMOJI_STYLE)
        }
        _ => false,
    }
}

/// Returns `true` for control characters, zero-width characters, variation selectors, tags and
/// combining marks.
pub(crate) fn is_unseen(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{034F}' | '\u{061C}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E0FFF}'
        // Combining marks.
        | '\u{0300}'..='\u{036F}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_has_two_equivalents() {
        let twice = BY_CHARACTER.windows(2).find(|two| two[0].0 == two[1].0);
        assert_eq!(twice, None);
    }

    #[test]
    fn every_equivalent_is_plain() {
        for character in ('\0'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            let written = plain(&character.to_string());
            assert!(written.chars().all(is_plain), "{character:?}: {written:?}");
        }
    }
}
