//! The header `Idempotency-Key`.

use crate::ids::MessageId;
use crate::refusal::Refusal;
use std::fmt;

/// The name of the header.
pub const HEADER: &str = "Idempotency-Key";
/// Maximum number of characters of a key.
pub const MAX_KEY_CHARACTERS: usize = 255;

/// A key of the caller's choice: 1 to 255 visible ASCII characters.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Parses the values of all headers of this name. Returns `None` if there is none.
    pub fn read<'a>(values: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<Self>, Refusal> {
        let mut values = values.into_iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(Refusal::Malformed(format!(
                "Send one `{HEADER}`, not several."
            )));
        }
        let is_visible = |byte: &u8| (0x21..=0x7E).contains(byte);
        let fits = (1..=MAX_KEY_CHARACTERS).contains(&value.len()) && value.iter().all(is_visible);
        match str::from_utf8(value) {
            Ok(key) if fits => Ok(Some(Self(key.to_owned()))),
            _ => Err(Refusal::Malformed(format!(
                "`{HEADER}` must be 1 to {MAX_KEY_CHARACTERS} visible ASCII characters without blanks, such as a UUID."
            ))),
        }
    }

    /// Returns the key of the answer to an inbound message. It has a blank, so no request can have it.
    pub fn of_answer(inbound: MessageId) -> Self {
        Self(format!("answer {inbound}"))
    }

    /// Returns the stored form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&[u8]]) -> Result<Option<String>, String> {
        match IdempotencyKey::read(values.iter().copied()) {
            Ok(key) => Ok(key.map(|key| key.to_string())),
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    #[test]
    fn a_key_is_1_to_255_visible_ascii_characters() {
        let longest = "~".repeat(255);
        for key in ["!", "7f0c2d9e-3c1b-4f7a-9b0e-5a1d2c3b4a59", &longest] {
            assert_eq!(read(&[key.as_bytes()]), Ok(Some(key.to_owned())));
        }
        assert_eq!(read(&[]), Ok(None));
        let long = "~".repeat(256);
        for key in ["", " ", "a b", "a\t", "\u{7F}", "ẹ", &long] {
            let refusal = read(&[key.as_bytes()]).unwrap_err();
            assert!(
                refusal.contains("1 to 255 visible ASCII characters"),
                "{key:?}"
            );
        }
        assert!(read(&[b"\xFF"]).is_err());
    }

    #[test]
    fn a_request_has_one_key() {
        let refusal = read(&[b"a", b"a"]).unwrap_err();
        assert_eq!(refusal, "Send one `Idempotency-Key`, not several.");
    }
}
