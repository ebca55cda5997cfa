//! Recovery codes, which replace the second factor once each. Only their SHA-256 is stored: 80
//! random bits need no slow hash.

use crate::hex::hex;
use sha2::{Digest, Sha256};

/// Number of codes that are made together.
pub const CODES: usize = 10;
/// Number of random bytes for [`make`].
pub const RANDOM_BYTES: usize = CODES * CHARACTERS;
const CHARACTERS: usize = 16;
const GROUP: usize = 4;
/// Letters and digits without 0, 1, I and O, which look alike.
const ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// Returns new codes, in groups of four characters.
pub fn make(random: &[u8; RANDOM_BYTES]) -> Vec<String> {
    let codes = random.chunks(CHARACTERS).map(|bytes| {
        let groups = bytes.chunks(GROUP).map(|group| {
            let signs = group
                .iter()
                .map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
            signs.collect::<String>()
        });
        groups.collect::<Vec<_>>().join("-")
    });
    codes.collect()
}

/// Returns the stored form of a code that a person typed. Case, spaces and hyphens do not count.
pub fn hash(given: &str) -> String {
    let plain = given.chars().filter(char::is_ascii_alphanumeric);
    let plain: String = plain.map(|sign| sign.to_ascii_uppercase()).collect();
    hex(&Sha256::digest(plain))
}

/// Returns the codes that are left after the use of one, or `None` if the code is not among them.
pub fn without(stored: &[String], given: &str) -> Option<Vec<String>> {
    let used = hash(given);
    let left: Vec<String> = stored.iter().filter(|one| **one != used).cloned().collect();
    (left.len() < stored.len()).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_good_once_in_any_notation() {
        let mut random = [0; RANDOM_BYTES];
        for (at, byte) in (0..=255_u8).cycle().zip(random.iter_mut()) {
            *byte = at;
        }
        let codes = make(&random);
        assert_eq!(codes.len(), CODES);
        assert_eq!(codes[0], "2345-6789-ABCD-EFGH");
        let stored: Vec<String> = codes.iter().map(|code| hash(code)).collect();
        let left = without(&stored[..1], "2345 6789 abcdefgh").unwrap();
        assert_eq!(left, Vec::<String>::new());
        assert_eq!(without(&left, &codes[0]), None);
        assert_eq!(without(&stored, "2345-6789"), None);
    }
}
