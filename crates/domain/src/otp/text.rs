//! The text of a one-time password. The code is put into it when the message is submitted, and not before.

use super::code::Code;
use crate::refusal::Refusal;
use crate::text::Text;

/// The text of a request without `body`.
pub const DEFAULT_BODY: &str = "{code} is your verification code. Do not share it.";
/// The place of the code in a text.
const PLACEHOLDER: &str = "{code}";
/// The last field of a receipt: the beginning of the text that was sent.
const RECEIPT_TEXT: &str = "text:";

/// Refuses a body without `{code}`. Other braces are sent as they are.
pub fn check_body(body: &str) -> Result<(), Refusal> {
    if body.contains(PLACEHOLDER) {
        Ok(())
    } else {
        Err(Refusal::Malformed(
            "`body` must hold `{code}`, in whose place the code is sent.".to_owned(),
        ))
    }
}

/// The text with the code. Digits and capital letters are one septet or one UTF-16 unit each, so pages and price depend
/// on the length of the code alone.
#[must_use]
pub fn with_code(template: &Text, code: &Code) -> Text {
    Text::from_stored(template.as_str().replace(PLACEHOLDER, code.as_str()))
}

/// A receipt of a carrier without the text that it repeats, which holds the code.
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
    use crate::otp::{CodeKind, OtpId};
    use crate::text::Alphabet;
    use proptest::prelude::*;

    fn code(random: u8, kind: CodeKind, length: u32) -> Code {
        Code::derive(b"key", OtpId::new(1, [random; 10]), kind, length)
    }

    #[test]
    fn the_code_stands_wherever_its_place_is() {
        let code = code(1, CodeKind::Numeric, 6);
        let template = Text::prepare("{code}: {code} {x}", false).unwrap();
        let expected = format!("{0}: {0} {{x}}", code.as_str());
        assert_eq!(with_code(&template, &code).as_str(), expected);
    }

    #[test]
    fn a_body_must_hold_the_place_of_the_code() {
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
