//! Passwords: their form, and their argon2id hashes.
//!
//! A hash takes tens of milliseconds and 19 MiB, so a caller bounds how many are made at once.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use subtle::ConstantTimeEq;

/// Size of a salt in bytes.
pub const SALT_BYTES: usize = 16;
/// Allowed length of a password in characters.
pub const MIN_CHARACTERS: usize = 12;
/// Maximum length of a password in characters.
pub const MAX_CHARACTERS: usize = 128;

/// Memory in KiB, passes and lanes (RFC 9106; the minimum that OWASP names for argon2id).
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const HASH_BYTES: usize = 32;
/// The most that a stored hash may demand, so that a foreign row cannot exhaust the memory.
const MAX_MEMORY_KIB: u32 = 1 << 20;

/// Words that passwords of lists of leaked ones consist of. A password of these and of digits alone
/// is refused.
const COMMON: [&str; 16] = [
    "password",
    "passwort",
    "qwerty",
    "qwertyuiop",
    "letmein",
    "welcome",
    "admin",
    "iloveyou",
    "football",
    "dragon",
    "monkey",
    "nigeria",
    "lagos",
    "ogene",
    "abc",
    "changeme",
];

/// The reason why a text may not be a password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PasswordFault {
    /// The password is too short.
    #[error("the password must have at least {MIN_CHARACTERS} characters; a sentence is best")]
    Short,
    /// The password is too long.
    #[error("the password must have at most {MAX_CHARACTERS} characters")]
    Long,
    /// The password is easy to guess.
    #[error("the password is easy to guess: use words that nobody connects with you or this site")]
    Guessable,
}

/// Checks a new password of the user with an e-mail address.
pub fn check(password: &str, email: &str) -> Result<(), PasswordFault> {
    match password.chars().count() {
        ..MIN_CHARACTERS => return Err(PasswordFault::Short),
        MIN_CHARACTERS..=MAX_CHARACTERS => {}
        _ => return Err(PasswordFault::Long),
    }
    let lower = password.to_lowercase();
    let first = lower.chars().next();
    let is_one_sign = lower.chars().all(|sign| Some(sign) == first);
    let name = email.split('@').next().unwrap_or_default();
    let named = lower.replace(email, "");
    let named = if name.is_empty() {
        named
    } else {
        named.replace(name, "")
    };
    let mut rest = named;
    for word in COMMON {
        rest = rest.replace(word, "");
    }
    let left = rest.chars().filter(|sign| sign.is_alphabetic()).count();
    let had = lower.chars().filter(|sign| sign.is_alphabetic()).count();
    let is_digits = lower.chars().all(|sign| sign.is_ascii_digit());
    if is_one_sign || is_digits || (had > 0 && left == 0) {
        return Err(PasswordFault::Guessable);
    }
    Ok(())
}

/// Returns the argon2id hash of a password in the PHC string format. Returns `None` if the machine
/// lacks the memory.
pub fn hash(password: &str, salt: &[u8; SALT_BYTES]) -> Option<String> {
    let hash = derive(password, salt, (MEMORY_KIB, PASSES, LANES))?;
    Some(format!(
        "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${}${}",
        BASE64_STANDARD_NO_PAD.encode(salt),
        BASE64_STANDARD_NO_PAD.encode(hash),
    ))
}

/// Returns `true` if a password has a stored hash. Without a stored hash the same work is done, so
/// that the time of an answer does not reveal whether a user exists.
pub fn verify(password: &str, stored: Option<&str>) -> bool {
    let Some(stored) = stored.and_then(read) else {
        let _ = derive(password, &[0; SALT_BYTES], (MEMORY_KIB, PASSES, LANES));
        return false;
    };
    derive(password, &stored.salt, stored.cost).is_some_and(|hash| hash.ct_eq(&stored.hash).into())
}

struct Stored {
    cost: (u32, u32, u32),
    salt: Vec<u8>,
    hash: Vec<u8>,
}

fn read(text: &str) -> Option<Stored> {
    let mut parts = text.strip_prefix("$argon2id$v=19$")?.split('$');
    let mut cost = parts.next()?.split(',');
    let mut number = |name: &str| -> Option<u32> { cost.next()?.strip_prefix(name)?.parse().ok() };
    let cost = (number("m=")?, number("t=")?, number("p=")?);
    let mut bytes = || BASE64_STANDARD_NO_PAD.decode(parts.next()?).ok();
    let (salt, hash) = (bytes()?, bytes()?);
    (cost.0 <= MAX_MEMORY_KIB).then_some(Stored { cost, salt, hash })
}

fn derive(password: &str, salt: &[u8], cost: (u32, u32, u32)) -> Option<[u8; HASH_BYTES]> {
    let (memory, passes, lanes) = cost;
    let params = Params::new(memory, passes, lanes, Some(HASH_BYTES)).ok()?;
    let mut hash = [0; HASH_BYTES];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(password.as_bytes(), salt, &mut hash)
        .ok()?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_verified_by_its_hash_alone() {
        let stored = hash("correct horse battery", &[7; SALT_BYTES]).unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(verify("correct horse battery", Some(&stored)));
        assert!(!verify("correct horse batterz", Some(&stored)));
        assert!(!verify("correct horse battery", None));
        for broken in [
            "",
            "$argon2id$v=19$m=19456,t=2,p=1$",
            "correct horse battery",
        ] {
            assert!(!verify("correct horse battery", Some(broken)), "{broken}");
        }
    }

    /// The reference of the command `argon2` of Debian: `printf password | argon2 somesalt -id -t 2
    /// -k 65536 -p 1 -l 24`, in `test.c` of the reference implementation with 32 bytes.
    #[test]
    fn a_hash_of_the_reference_implementation_is_verified() {
        let stored =
            "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        assert!(verify("password", Some(stored)));
        assert!(!verify("passwore", Some(stored)));
    }

    #[test]
    fn a_password_is_long_and_not_easy_to_guess() {
        use PasswordFault::{Guessable, Long, Short};
        let table = [
            ("correct horse battery", Ok(())),
            ("Ụtụtụ ọma, Ada!", Ok(())),
            ("elevenchars", Err(Short)),
            ("", Err(Short)),
            ("aaaaaaaaaaaaaaaa", Err(Guessable)),
            ("123456789012", Err(Guessable)),
            ("Password1234!", Err(Guessable)),
            ("ada@example.ng", Err(Guessable)),
            ("ada-1234-5678", Err(Guessable)),
            ("welcome-to-lagos", Ok(())),
        ];
        for (password, expected) in table {
            assert_eq!(check(password, "ada@example.ng"), expected, "{password}");
        }
        assert_eq!(check(&"ab ".repeat(43), "a@b"), Err(Long));
    }
}
