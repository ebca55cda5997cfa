//! API tokens: `ogl_`, 30 base62 characters, and a CRC32 of all that in 6 base62 characters.
//!
//! The checksum lets junk be refused without a look-up and serves secret scanners. Only the SHA-256 of
//! a token is ever stored (`decisions.md`, Tokens).

use sha2::{Digest, Sha256};

const PREFIX: &str = "ogl_";
const RANDOM_CHARACTERS: usize = 30;
const CHECK_CHARACTERS: usize = 6;
/// Characters of a token.
pub const LENGTH: usize = PREFIX.len() + RANDOM_CHARACTERS + CHECK_CHARACTERS;
/// Bytes of chance that [`make`] may need; 30 base62 characters hold 178 bits.
pub const CHANCE_BYTES: usize = 64;

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// SHA-256 of a token, which is all that is stored of it.
pub type TokenHash = [u8; 32];

/// Makes a token from bytes of chance; `None` in the rare case that too few of them are usable.
pub fn make(chance: &[u8; CHANCE_BYTES]) -> Option<String> {
    // Bytes from 248 on would favour the first characters; they are passed over.
    let usable = chance.iter().filter(|&&byte| byte < 248);
    let mut token = PREFIX.to_owned();
    token.extend(
        usable
            .take(RANDOM_CHARACTERS)
            .map(|byte| char::from(BASE62[usize::from(byte % 62)])),
    );
    if token.len() < PREFIX.len() + RANDOM_CHARACTERS {
        return None;
    }
    let check = check_of(&token);
    token.push_str(&check);
    Some(token)
}

/// Whether a text can be a token at all: right form, right checksum.
pub fn is_well_formed(text: &str) -> bool {
    let Some(split) = text.len().checked_sub(CHECK_CHARACTERS) else {
        return false;
    };
    text.len() == LENGTH
        && text.is_ascii()
        && text.starts_with(PREFIX)
        && text
            .bytes()
            .skip(PREFIX.len())
            .all(|byte| byte.is_ascii_alphanumeric())
        && check_of(&text[..split]) == text[split..]
}

/// The hash by which a token is stored and looked up.
pub fn hash(token: &str) -> TokenHash {
    Sha256::digest(token).into()
}

fn check_of(text: &str) -> String {
    let mut rest = crc32fast::hash(text.as_bytes());
    let mut check = [b'0'; CHECK_CHARACTERS];
    for place in check.iter_mut().rev() {
        *place = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    check.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_little_usable_chance_makes_no_token() {
        assert_eq!(make(&[255; CHANCE_BYTES]), None);
    }

    proptest! {
        #[test]
        fn a_made_token_is_well_formed_and_no_longer_so_when_a_character_changes(
            chance in proptest::collection::vec(0u8..248, CHANCE_BYTES), at in 0..LENGTH, other in "[0-9A-Za-z]",
        ) {
            let token = make(&chance.try_into().unwrap()).unwrap();
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
