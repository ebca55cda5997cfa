//! API tokens: `ogl_`, 30 base62 characters, and a CRC32 of both in 6 base62 characters.
//!
//! The checksum allows to refuse random text without a lookup, and helps secret scanners. Only the
//! SHA-256 of a token is stored (docs/spec/interface.md, section 3).

mod request;
pub(crate) mod scope;
mod terms;

pub use request::{
    MAX_NAME_CHARACTERS, MAX_PER_MINUTE, MAX_RANGES, MAX_TOKENS, TokenFields, TokenRequest,
};
pub use scope::{NotScopes, Scope, Scopes};
pub use terms::TokenTerms;

use sha2::{Digest, Sha256};

const PREFIX: &str = "ogl_";
const RANDOM_CHARACTERS: usize = 30;
const CHECK_CHARACTERS: usize = 6;
/// Length of a token in characters.
pub const LENGTH: usize = PREFIX.len() + RANDOM_CHARACTERS + CHECK_CHARACTERS;
/// Number of random bytes for [`make`]. 30 base62 characters have 178 bits.
pub const RANDOM_BYTES: usize = 64;

pub(crate) const BASE62: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The SHA-256 of a token.
pub type TokenHash = [u8; 32];

/// Creates a token from random bytes. Returns `None` in the rare case that too few of them are
/// usable.
pub fn make(random: &[u8; RANDOM_BYTES]) -> Option<String> {
    let mut token = PREFIX.to_owned() + &characters(random, BASE62, RANDOM_CHARACTERS)?;
    let check = check_of(token.as_bytes());
    token.extend(check.map(char::from));
    Some(token)
}

/// Returns random characters of a set whose size divides 248. Bytes from 248 on would favour the
/// first characters, so they are skipped. Returns `None` if too few are usable.
pub(crate) fn characters(random: &[u8], set: &[u8], many: usize) -> Option<String> {
    let usable = random.iter().filter(|&&byte| byte < 248);
    let text: String = usable
        .take(many)
        .map(|&byte| char::from(set[usize::from(byte) % set.len()]))
        .collect();
    (text.len() == many).then_some(text)
}

/// Returns `true` if a text has the form and checksum of a token.
pub fn is_well_formed(text: &str) -> bool {
    text.len() == LENGTH
        && text.starts_with(PREFIX)
        && text
            .bytes()
            .skip(PREFIX.len())
            .all(|byte| byte.is_ascii_alphanumeric())
        && text
            .as_bytes()
            .split_last_chunk()
            .is_some_and(|(start, check)| check_of(start) == *check)
}

/// Returns the hash by which a token is stored and looked up.
pub fn hash(token: &str) -> TokenHash {
    Sha256::digest(token).into()
}

fn check_of(text: &[u8]) -> [u8; CHECK_CHARACTERS] {
    let mut rest = crc32fast::hash(text);
    let mut check = [b'0'; CHECK_CHARACTERS];
    for place in check.iter_mut().rev() {
        *place = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_few_usable_bytes_make_no_token() {
        assert_eq!(make(&[255; RANDOM_BYTES]), None);
    }

    proptest! {
        #[test]
        fn a_made_token_is_well_formed_until_a_character_changes(
            random in proptest::collection::vec(0u8..248, RANDOM_BYTES), at in 0..LENGTH, other in "[0-9A-Za-z]",
        ) {
            let token = make(&random.try_into().unwrap()).unwrap();
            prop_assert!(is_well_formed(&token));
            let mut changed = token.clone();
            changed.replace_range(at..=at, &other);
            prop_assert_eq!(is_well_formed(&changed), changed == token);
        }

        #[test]
        fn junk_is_not_well_formed(text in ".{0,60}") {
            prop_assert!(!is_well_formed(&text));
        }
    }
}
