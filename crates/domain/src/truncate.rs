//! Texts of others that are part of a key: as long as they like outside, but not in an index.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The longest text that is kept as it is, in octets. PostgreSQL refuses a row of an index over some 2,700, and a key
/// is made of more than one text.
pub const MAX_KEY_OCTETS: usize = 300;
/// The part of a longer one that stays readable.
const READABLE_OCTETS: usize = 200;

/// A text as it stands in a key. A text that is too long is cut, and its digest distinguishes it from others that begin alike:
/// equal texts stay equal, and different ones different.
pub fn truncate(text: String) -> String {
    if text.len() <= MAX_KEY_OCTETS {
        return text;
    }
    let digest = Sha256::digest(&text);
    let mut short = text;
    short.truncate(short.floor_char_boundary(READABLE_OCTETS));
    short.push('~');
    for octet in digest {
        // A string takes whatever is written.
        let _ = write!(short, "{octet:02x}");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_enough_stays_as_it_is() {
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
        // A character is not cut in two.
        assert!(truncate(["a", &long("")].concat()).starts_with("aé"));
    }
}
