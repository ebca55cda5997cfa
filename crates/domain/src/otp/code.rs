//! Codes. They derive from a key and an id, and are compared in constant time.

use super::id::OtpId;
use crate::named_enum;
use crate::refusal::Refusal;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use subtle::ConstantTimeEq;

named_enum! {
    /// The kind of characters of a code.
    pub enum CodeKind {
        /// Digits.
        Numeric = "numeric",
        /// Digits and capital letters without 0, O, 1 and I, which look alike.
        Alphanumeric = "alphanumeric",
    }
}

const DIGITS: &[u8; 10] = b"0123456789";
const LETTERS_AND_DIGITS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";
/// Maximum length of a code.
const MAX_LENGTH: usize = 10;

impl CodeKind {
    const fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Numeric => DIGITS,
            Self::Alphanumeric => LETTERS_AND_DIGITS,
        }
    }
}

/// A code. Only [`as_str`](Self::as_str) reveals it.
#[derive(Clone)]
pub struct Code(String);

impl Code {
    /// Derives the code of a one-time password: HMAC-SHA-256 over id, kind and length with a key of
    /// the server.
    ///
    /// Each octet gives one character. Octets that would favour the first characters are skipped,
    /// so all codes of a kind and length are equally likely.
    pub fn derive(server_key: &[u8], id: OtpId, kind: CodeKind, length: u32) -> Self {
        let alphabet = kind.alphabet();
        let length = usize::try_from(length).map_or(MAX_LENGTH, |length| length.min(MAX_LENGTH));
        let usable = 256 - 256 % alphabet.len();
        let mut code = String::with_capacity(length);
        for block in 0_u32.. {
            for octet in derived(server_key, id, kind, length, block) {
                let octet = usize::from(octet);
                if code.len() < length && octet < usable {
                    code.push(char::from(alphabet[octet % alphabet.len()]));
                }
            }
            if code.len() == length {
                break;
            }
        }
        Self(code)
    }

    /// Returns the characters, for the text of the message.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub fn is(&self, given: &GivenCode) -> bool {
        self.0.as_bytes().ct_eq(given.0.as_bytes()).into()
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

/// Returns one block of 32 octets of the stream of an id.
fn derived(server_key: &[u8], id: OtpId, kind: CodeKind, length: usize, block: u32) -> [u8; 32] {
    let mut mac = keyed(server_key);
    mac.update(b"ogene one-time password");
    mac.update(id.0.as_bytes());
    mac.update(kind.as_str().as_bytes());
    mac.update(&(length as u64).to_be_bytes());
    mac.update(&block.to_be_bytes());
    mac.finalize().into_bytes().into()
}

/// A code as it was typed, in upper case without blanks.
#[derive(Clone)]
pub struct GivenCode(String);

impl GivenCode {
    /// Parses a code. Anything but `length` letters or digits is malformed, and counts as no
    /// attempt.
    pub fn read(text: Option<&str>, length: u32) -> Result<Self, Refusal> {
        let typed = text.unwrap_or_default().chars();
        let code: String = typed
            .filter(|character| !character.is_whitespace())
            .take(MAX_LENGTH + 1)
            .collect();
        let is_formed =
            code.len() == length as usize && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_formed {
            Ok(Self(code.to_ascii_uppercase()))
        } else {
            Err(Refusal::Malformed(format!(
                "`code` must be the {length} letters or digits of the message. This was not counted as an attempt."
            )))
        }
    }
}

/// Returns a keyed hash of a typed code, which tells repeated requests from others and does not
/// reveal the code. Case and white space do not count.
pub fn hash_of_typed(server_key: &[u8], id: OtpId, typed: &str) -> [u8; 32] {
    let characters = typed.chars().filter(|character| !character.is_whitespace());
    let code: String = characters.take(MAX_LENGTH + 1).collect();
    let mut mac = keyed(server_key);
    mac.update(b"ogene typed code");
    mac.update(id.0.as_bytes());
    mac.update(code.to_ascii_uppercase().as_bytes());
    mac.finalize().into_bytes().into()
}

fn keyed(server_key: &[u8]) -> Hmac<Sha256> {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(server_key) else {
        unreachable!("HMAC takes a key of any length")
    };
    mac
}

impl fmt::Debug for GivenCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenCode")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";

    fn id(number: u64) -> OtpId {
        OtpId(uuid::Uuid::from_u64_pair(0x01a1_ee56_5e00_7707, number))
    }

    fn derive(number: u64, kind: CodeKind, length: u32) -> String {
        Code::derive(KEY, id(number), kind, length)
            .as_str()
            .to_owned()
    }

    #[test]
    fn a_code_has_its_length_and_alphabet() {
        for length in 4..=10 {
            for number in 0..200 {
                let digits = derive(number, CodeKind::Numeric, length);
                let letters = derive(number, CodeKind::Alphanumeric, length);
                assert_eq!(
                    (digits.len(), letters.len()),
                    (length as usize, length as usize)
                );
                assert!(digits.bytes().all(|byte| byte.is_ascii_digit()));
                assert!(
                    letters
                        .bytes()
                        .all(|byte| LETTERS_AND_DIGITS.contains(&byte))
                );
                assert!(!letters.contains(['0', 'O', '1', 'I']));
            }
        }
    }

    #[test]
    fn the_code_follows_from_key_and_id_alone() {
        let code = derive(1, CodeKind::Numeric, 6);
        assert_eq!(code, derive(1, CodeKind::Numeric, 6));
        // The value was computed by another implementation of HMAC-SHA-256.
        assert_eq!(code, "366632");
        let others = [
            derive(2, CodeKind::Numeric, 6),
            Code::derive(b"another", id(1), CodeKind::Numeric, 6).0,
        ];
        assert!(others.iter().all(|other| *other != code));
    }

    #[test]
    fn every_character_is_as_likely_as_another() {
        for (kind, alphabet) in [
            (CodeKind::Numeric, &DIGITS[..]),
            (CodeKind::Alphanumeric, &LETTERS_AND_DIGITS[..]),
        ] {
            let codes = 20_000;
            let mut counts = [0_u32; 128];
            for number in 0..codes {
                for byte in derive(number, kind, 10).bytes() {
                    counts[usize::from(byte)] += 1;
                }
            }
            let expected = 200_000.0 / f64::from(u32::try_from(alphabet.len()).unwrap());
            let chi_squared: f64 = alphabet
                .iter()
                .map(|&byte| (f64::from(counts[usize::from(byte)]) - expected).powi(2) / expected)
                .sum();
            // 99.9 % of uniform streams are below 27.9 (9 degrees of freedom) and 61.1 (31).
            let most = if alphabet.len() == 10 { 27.9 } else { 61.1 };
            assert!(chi_squared < most, "{kind:?}: {chi_squared}");
        }
    }

    #[test]
    fn case_and_blanks_do_not_count() {
        let code = Code("A7K9Q2".to_owned());
        for text in ["A7K9Q2", "a7k9q2", " a7k 9q2\n", "A7K\u{A0}9Q2"] {
            let given = GivenCode::read(Some(text), 6).unwrap();
            assert!(code.is(&given), "{text}");
        }
        assert!(!code.is(&GivenCode::read(Some("A7K9Q3"), 6).unwrap()));
    }

    #[test]
    fn a_malformed_code_is_refused_before_it_is_an_attempt() {
        for text in [
            "",
            "12345",
            "1234567",
            "12345-",
            "12345ẹ",
            "１２３４５６",
            "{code}",
        ] {
            let refusal = GivenCode::read(Some(text), 6).unwrap_err();
            assert!(
                refusal.to_string().contains("6 letters or digits"),
                "{text}"
            );
        }
        assert!(GivenCode::read(None, 6).is_err());
        assert!(
            GivenCode::read(Some("ABCDEF"), 6).is_ok(),
            "letters are an attempt at digits"
        );
    }

    #[test]
    fn no_code_is_shown_by_a_debug_line() {
        let code = Code("482913".to_owned());
        let given = GivenCode::read(Some("482913"), 6);
        assert_eq!(format!("{code:?} {given:?}"), "Code Ok(GivenCode)");
    }

    proptest! {
        #[test]
        fn a_code_is_itself_and_no_other(one: u64, other: u64, length in 4..=10_u32) {
            let code = Code::derive(KEY, id(one), CodeKind::Alphanumeric, length);
            let given = GivenCode::read(Some(code.as_str()), length).unwrap();
            prop_assert!(code.is(&given));
            let second = Code::derive(KEY, id(other), CodeKind::Alphanumeric, length);
            prop_assert_eq!(second.is(&given), second.as_str() == code.as_str());
        }
    }
}
