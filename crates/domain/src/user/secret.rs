//! Secrets of sessions and links: 256 random bits as text. Only their SHA-256 is stored.

use crate::constant_time::is_secret;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;

/// Number of random bytes of a secret.
pub const RANDOM_BYTES: usize = 32;
/// Length of a secret in characters.
const LENGTH: usize = 43;
/// The text that makes the token of forms differ from other uses of a secret.
const FORMS: &[u8] = b"forms";

/// The SHA-256 of a secret, by which it is stored and found.
pub type SecretHash = [u8; 32];

/// A secret of a session, a link or a form. Only [`text`](Self::text) reveals it.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// Creates a secret from random bytes.
    pub fn make(random: &[u8; RANDOM_BYTES]) -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(random))
    }

    /// Reads a secret. Returns `None` for a text of another form, which needs no lookup.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let is_whole = text.len() == LENGTH && bytes.len() == RANDOM_BYTES;
        is_whole.then(|| Self(text.to_owned()))
    }

    /// Returns the text for a cookie or an address.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the hash by which the secret is stored.
    pub fn hash(&self) -> SecretHash {
        Sha256::digest(&self.0).into()
    }

    /// Returns the token that each form of the holder carries. It reveals nothing of the secret.
    pub fn form_token(&self) -> String {
        // An HMAC accepts keys of any length, so this never fails.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()) else {
            return String::new();
        };
        mac.update(FORMS);
        BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    /// Compares the token of a form in constant time.
    pub fn is_form_token(&self, given: &str) -> bool {
        is_secret(&self.form_token(), given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_secret_is_read_and_nothing_else_is() {
        let secret = Secret::make(&[7; RANDOM_BYTES]);
        assert_eq!(Secret::read(secret.text()), Some(secret.clone()));
        for text in ["", "x", &secret.text()[1..], &format!("{}A", secret.text())] {
            assert_eq!(Secret::read(text), None, "{text}");
        }
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn the_token_of_a_form_belongs_to_one_secret() {
        let (one, other) = (Secret::make(&[1; 32]), Secret::make(&[2; 32]));
        assert!(one.is_form_token(&one.form_token()));
        for given in ["", &other.form_token(), one.text()] {
            assert!(!one.is_form_token(given), "{given}");
        }
        assert_ne!(one.hash(), other.hash());
    }
}
