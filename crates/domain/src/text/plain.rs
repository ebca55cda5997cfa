//! The text that is sent with `unicode = false`: plain GSM 03.38, without accents and without emoji.

use super::equivalents::EQUIVALENTS;
use super::gsm;
use std::sync::LazyLock;

/// 𝐀, the first of thirteen mathematical styles of letters.
const STYLED_LETTERS: u32 = 0x1_D400;
/// 𝟎, the first of five styles of digits.
const STYLED_DIGITS: u32 = 0x1_D7CE;
/// Full-width forms lie at this distance above ASCII.
const FULL_WIDTH: u32 = 0xFEE0;
/// Asks for the character before it to be shown as an emoji.
const EMOJI_STYLE: char = '\u{FE0F}';
/// The mark that puts the digit before it on a key.
const KEYCAP: char = '\u{20E3}';

/// The table by character, sorted.
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

/// The treatment of one character.
enum Treatment {
    /// It is plain already, or plain once its style is dropped.
    Is(char),
    /// Others are written for it.
    Becomes(&'static str),
    /// It is not seen, so it goes without a trace.
    Vanishes,
    /// It is seen and has no equivalent, so it goes, with the double space that would be left.
    Goes,
}

/// The text in plain characters: see [`Text::prepare`](super::Text::prepare).
pub(crate) fn plain(body: &str) -> String {
    counted(body).0
}

/// The text in plain characters, and how many visible characters were removed without an equivalent.
pub(super) fn counted(body: &str) -> (String, usize) {
    made_plain(body, |_, _| {})
}

/// The same, where `changed` gets each character that is replaced or removed with what stands for it.
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
            Treatment::Is(plain_character) => {
                if plain_character != character {
                    changed(character, plain_character.encode_utf8(&mut [0; 4]));
                }
                plain.push(plain_character);
            }
            Treatment::Becomes(equivalent) => {
                changed(character, equivalent);
                plain.push_str(equivalent);
            }
            Treatment::Vanishes => changed(character, ""),
            Treatment::Goes => {
                removed += 1;
                changed(character, "");
                plain.gap();
            }
        }
    }
    (plain.text, removed)
}

/// The text so far, and whether something was just taken out.
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

    /// Something seen goes here: the spaces on both sides of it become one.
    fn gap(&mut self) {
        while self.text.ends_with("  ") {
            self.text.pop();
        }
        self.after_gap = true;
    }
}

fn treatment(character: char) -> Treatment {
    if is_plain(character) {
        return Treatment::Is(character);
    }
    if let Some(letter) = unstyled(character).filter(|&letter| is_plain(letter)) {
        return Treatment::Is(letter);
    }
    if let Ok(at) = BY_CHARACTER.binary_search_by_key(&character, |pair| pair.0) {
        return Treatment::Becomes(BY_CHARACTER[at].1);
    }
    if is_unseen(character) {
        Treatment::Vanishes
    } else {
        Treatment::Goes
    }
}

/// Returns whether a character may be sent as it is: in the alphabet and not an accented or joined letter.
fn is_plain(character: char) -> bool {
    const SIGNS_AND_CAPITALS: &str = "£¥§¿¡¤€ΔΦΓΛΩΠΨΣΘΞ";
    if character.is_ascii() {
        gsm::code(character).is_some()
    } else {
        SIGNS_AND_CAPITALS.contains(character)
    }
}

/// The ASCII character of which this is a full-width form or a mathematical style (𝐁, 𝓫, 𝟗).
fn unstyled(character: char) -> Option<char> {
    let code = u32::from(character);
    let (first, place) = match code {
        0xFF01..=0xFF5E => return char::from_u32(code - FULL_WIDTH),
        STYLED_LETTERS..=0x1_D6A3 => match (code - STYLED_LETTERS) % 52 {
            capital @ 0..26 => ('A', capital),
            small => ('a', small - 26),
        },
        STYLED_DIGITS..=0x1_D7FF => ('0', (code - STYLED_DIGITS) % 10),
        _ => return None,
    };
    char::from_u32(u32::from(first) + place)
}

/// Returns whether the next characters make an emoji of a character that is none by itself: a digit on a key, or a
/// sign such as © that is asked to be shown as an emoji.
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

/// Control characters, zero-width characters, variation selectors, tags, and marks that combine with
/// the letter before them.
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
    fn whatever_is_written_for_a_character_is_plain() {
        for character in ('\0'..='\u{1FFFF}').chain('\u{E0000}'..='\u{E0FFF}') {
            let written = plain(&character.to_string());
            assert!(written.chars().all(is_plain), "{character:?}: {written:?}");
        }
    }
}
