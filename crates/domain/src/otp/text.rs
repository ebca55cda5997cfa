//! The text of a one-time password. The code is inserted when the message is submitted.

use super::code::{Code, CodeKind};
use super::id::OtpId;
use crate::refusal::Refusal;
use crate::text::Text;

/// The default text.
pub const DEFAULT_BODY: &str = "{code} is your verification code. Do not share it.";
/// The placeholder of the code.
const PLACEHOLDER: &str = "{code}";
/// The label of a receipt's last field, which repeats the begin of the text.
const RECEIPT_TEXT: &str = "text:";

/// The code of a message: its text has a place for it until it is submitted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OtpText {
    /// The one-time password.
    pub id: OtpId,
    /// The characters of the code.
    pub kind: CodeKind,
    /// The number of its characters.
    pub length: u32,
}

impl OtpText {
    /// Derives the code.
    pub fn code(&self, server_key: &[u8]) -> Code {
        Code::derive(server_key, self.id, self.kind, self.length)
    }
}

/// The message of a one-time password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OtpMessage {
    /// The code of its text.
    pub text: OtpText,
    /// The first message makes the one-time password. `None` for one that is sent again.
    pub first: Option<NewOtp>,
    /// The moment from which the code is not good, Unix milliseconds.
    pub expires_at_ms: i64,
    /// The fingerprint of the message, which no other message has.
    pub fingerprint: [u8; 16],
    /// Messages of the account to the number in an hour.
    pub number_limit: u32,
}

/// The limits of a new one-time password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NewOtp {
    /// Wrong codes after which it fails.
    pub max_attempts: u32,
}

/// Refuses a body without `{code}`. Other braces are sent unchanged.
pub fn check_body(body: &str) -> Result<(), Refusal> {
    if body.contains(PLACEHOLDER) {
        Ok(())
    } else {
        Err(Refusal::Malformed(
            "`body` must hold `{code}`, in whose place the code is sent.".to_owned(),
        ))
    }
}

/// Returns the text with the code. Each character of a code is one septet or one UTF-16 unit, so
/// pages and price depend only on the length of the code.
#[must_use]
pub fn with_code(template: &Text, code: &Code) -> Text {
    Text::from_stored(template.as_str().replace(PLACEHOLDER, code.as_str()))
}

/// A body with an example in the place of the code.
pub(crate) fn example_of(body: &str, length: u32) -> String {
    body.replace(PLACEHOLDER, &"0".repeat(length as usize))
}

/// Returns a receipt without its repeated text, which contains the code.
pub fn masked_receipt(receipt: &str) -> String {
    let found = receipt
        .as_bytes()
        .windows(RECEIPT_TEXT.len())
        .position(|window| window.eq_ignore_ascii_case(RECEIPT_TEXT.as_bytes()));
    let Some(at) = found else {
        return receipt.to_owned();
    };
    let (kept, text) = receipt.split_at(at + RECEIPT_TEXT.len());
    let mask = if text.is_empty() { "" } else { "***" };
    [kept, mask].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Alphabet;
    use proptest::prelude::*;

    fn code(random: u8, kind: CodeKind, length: u32) -> Code {
        Code::derive(b"key", OtpId::new(1, [random; 10]), kind, length)
    }

    #[test]
    fn the_code_replaces_each_placeholder() {
        let code = code(1, CodeKind::Numeric, 6);
        let template = Text::prepare("{code}: {code} {x}", false).unwrap();
        let expected = format!("{0}: {0} {{x}}", code.as_str());
        assert_eq!(with_code(&template, &code).as_str(), expected);
    }

    #[test]
    fn a_body_must_contain_the_placeholder() {
        assert_eq!(check_body(DEFAULT_BODY), Ok(()));
        for body in ["", "code", "{ code }", "{CODE}", "{code"] {
            assert!(check_body(body).is_err(), "{body}");
        }
    }

    #[test]
    fn the_text_of_a_receipt_is_masked() {
        let table = [
            (
                "id:1 stat:DELIVRD err:000 text:482913 is your",
                "id:1 stat:DELIVRD err:000 text:***",
            ),
            ("id:1 Text:482913", "id:1 Text:***"),
            ("id:1 text:", "id:1 text:"),
            ("id:1 stat:DELIVRD", "id:1 stat:DELIVRD"),
            ("ẹ text:ẹ", "ẹ text:***"),
        ];
        for (receipt, masked) in table {
            assert_eq!(masked_receipt(receipt), masked);
        }
    }

    proptest! {
        #[test]
        fn pages_depend_on_the_length_of_the_code_alone(
            before in "[ -~ẹ€]{0,170}", after in "[ -~ẹ€]{0,170}", one: u8, other: u8, length in 4..=10_u32,
            unicode: bool,
        ) {
            let template = Text::prepare(&format!("{before}{{code}}{after}"), unicode).unwrap();
            let [digits, letters] = [
                with_code(&template, &code(one, CodeKind::Numeric, length)),
                with_code(&template, &code(other, CodeKind::Alphanumeric, length)),
            ];
            prop_assert_eq!(digits.page_count(), letters.page_count());
            prop_assert_eq!(digits.alphabet(), letters.alphabet());
            prop_assert!(unicode || digits.alphabet() == Alphabet::Gsm);
        }
    }
}
