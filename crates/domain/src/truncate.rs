//! Shortens texts of others that are part of a database key.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Maximum length of an unchanged text in octets. PostgreSQL refuses index rows above 2,700 octets,
/// and a key has several texts.
pub const MAX_KEY_OCTETS: usize = 300;
/// Length of the readable part of a longer text in octets.
const READABLE_OCTETS: usize = 200;

/// Returns a text in the form for keys. A long text is cut, and a digest distinguishes it from
/// others with the same begin.
pub fn truncate(text: String) -> String {
    if text.len() <= MAX_KEY_OCTETS {
        return text;
    }
    let digest = Sha256::digest(&text);
    let mut short = text;
    short.truncate(short.floor_char_boundary(READABLE_OCTETS));
    short.push('~');
    for octet in digest {
        // Writing to a string cannot fail.
        let _ = write!(short, "{octet:02x}");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_not_changed() {
        for text in ["", "1F4A9", &"é".repeat(MAX_KEY_OCTETS / 2)] {
            assert_eq!(truncate(text.to_owned()), text);
        }
    }

    #[test]
    fn a_long_text_is_cut_and_stays_different_from_others() {
        let long = |end: &str| ["é".repeat(5_000).as_str(), end].concat();
        let [one, same, other] = ["a", "a", "b"].map(|end| truncate(long(end)));
        assert_eq!(one, same);
        assert_ne!(one, other);
        for text in [&one, &other] {
            assert!(text.len() <= MAX_KEY_OCTETS, "{}", text.len());
            assert_eq!(truncate(text.clone()), *text);
        }
        // The cut does not split a character.
        assert!(truncate(["a", &long("")].concat()).starts_with("aé"));
    }
}
