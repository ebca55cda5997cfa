//! The codes of answers with the prefix of this installation (`http.code_prefix`). The number is
//! the interface's.

use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

/// The code of every success.
pub(crate) const SUCCESS: &str = "API-0000";
/// The prefix of the interface. The source code uses it for all codes.
const STANDARD: &str = "API-";
/// Digits of a code.
const DIGITS: usize = 4;
/// The longest prefix, in characters.
const MAX_PREFIX: usize = 16;

/// Writes codes with the prefix of the installation.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Codes {
    /// `None` for the prefix of the interface.
    prefix: Option<Arc<str>>,
}

impl Codes {
    /// Makes codes with this prefix.
    ///
    /// # Errors
    /// The prefix cannot be part of a code, for this reason.
    pub fn new(prefix: &str) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if !(1..=MAX_PREFIX).contains(&prefix.len()) || !prefix.bytes().all(allowed) {
            return Err(format!(
                "must be 1 to {MAX_PREFIX} ASCII letters, digits, hyphens, underscores or dots, such as \"{STANDARD}\""
            ));
        }
        let prefix = (prefix != STANDARD).then(|| prefix.into());
        Ok(Self { prefix })
    }

    /// Returns a code with the prefix of this installation.
    pub(crate) fn of(&self, code: &'static str) -> Cow<'static, str> {
        match &self.prefix {
            None => Cow::Borrowed(code),
            Some(_) => Cow::Owned(self.within(code).into_owned()),
        }
    }

    /// Returns an answer as JSON, with the code of a success.
    pub(crate) fn written<T: Coded + Serialize>(&self, mut answer: T) -> String {
        let code = answer.code();
        *code = self.of(SUCCESS);
        // Answers have no maps, so they can always be written.
        serde_json::to_string(&answer).unwrap_or_default()
    }

    /// Returns a text in which every code has the prefix of this installation.
    pub(crate) fn within<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(prefix) = &self.prefix else {
            return Cow::Borrowed(text);
        };
        let mut parts = text.split(STANDARD);
        let mut written = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.bytes().take(DIGITS).filter(u8::is_ascii_digit).count();
            written.push_str(if digits == DIGITS { prefix } else { STANDARD });
            written.push_str(part);
        }
        Cow::Owned(written)
    }
}

/// An answer with the code of a success.
pub(crate) trait Coded {
    /// Returns the place of the code.
    fn code(&mut self) -> &mut Cow<'static, str>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_with_the_prefix_of_the_installation() {
        let codes = Codes::new("SMS_NG-").unwrap();
        assert_eq!(codes.of("API-2012"), "SMS_NG-2012");
        let table = [
            ("API-0000", "SMS_NG-0000"),
            (
                "`API-1001`, API-3004; API-401",
                "`SMS_NG-1001`, SMS_NG-3004; API-401",
            ),
            ("the API- and nothing", "the API- and nothing"),
            ("", ""),
        ];
        for (text, written) in table {
            assert_eq!(codes.within(text), written);
            assert_eq!(Codes::default().within(text), text);
        }
    }

    #[test]
    fn a_prefix_that_could_break_an_answer_is_refused() {
        for prefix in ["", "A B", "\"", "ẹ-", "seventeen-letters"] {
            assert!(Codes::new(prefix).is_err(), "{prefix:?}");
        }
    }
}
