//! Phone numbers: their accepted spellings, and the numbers that may be sent to.

mod list;
pub(crate) mod recipient;
mod separators;

pub use list::{LIST_SEPARATORS, MAX_NAMED_INVALID, RecipientList, TooMany, read_recipients};
pub use recipient::{Recipient, SandboxOutcome};

use crate::account::Environment;
use crate::gateway::Gateway;
use recipient::{NATIONAL, NIGERIA};
use separators::is_separator;

/// Maximum number of digits: the longest number (E.164, 6.1) with two zeros or a trunk zero.
const MAX_DIGITS: u32 = 17;
/// Maximum length of a spelling in bytes, which allows three invisible characters for each digit.
const MAX_SPELLING_BYTES: usize = 256;

/// Parses a Nigerian mobile number: `2348031234567`, `+234…`, `00234…`, `08031234567`, `8031234567`
/// or `23408031234567`. White space, dashes, dots, brackets and invisible characters are ignored
/// anywhere, since copied numbers contain them.
pub fn parse_national(text: &str) -> Option<Recipient> {
    let national = Digits::read(text)?.national()?;
    is_mobile(national).then_some(Recipient::from_digits(NIGERIA * NATIONAL + national))
}

/// Parses the forms of [`parse_national`] and the steering numbers of the sandbox.
pub fn parse_sandbox(text: &str) -> Option<Recipient> {
    let national = Digits::read(text)?.national()?;
    let recipient = Recipient::from_digits(NIGERIA * NATIONAL + national);
    (is_mobile(national) || recipient.sandbox_outcome().is_some()).then_some(recipient)
}

/// Parses the forms of [`parse_international`] and the steering numbers of the sandbox.
fn parse_sandbox_international(text: &str) -> Option<Recipient> {
    parse_international(text).or_else(|| parse_sandbox(text))
}

/// Parses the forms of [`parse_national`], and numbers of any country: 8 to 15 digits, with or
/// without `+` or `00`.
///
/// A number of Nigeria must be a mobile one, since others receive no messages. A stored number is
/// parsed again later, so no foreign number may look like a Nigerian one without its prefix. No
/// country has such numbers.
pub fn parse_international(text: &str) -> Option<Recipient> {
    let digits = Digits::read(text)?;
    if let Some(national) = digits.national().filter(|&national| is_mobile(national)) {
        return Some(Recipient::from_digits(NIGERIA * NATIONAL + national));
    }
    let length = digits.count - digits.leading_zeros;
    let prefixed_well = match digits.leading_zeros {
        0 => true,
        2 => !digits.plus,
        _ => false,
    };
    let is_foreign =
        !starts_with_country(digits.value, length, NIGERIA) && !is_mobile(digits.value);
    (prefixed_well && (8..=15).contains(&length) && is_foreign)
        .then_some(Recipient::from_digits(digits.value))
}

/// Returns the parser of numbers for a gateway.
pub(crate) fn reader(gateway: Gateway, environment: Environment) -> fn(&str) -> Option<Recipient> {
    match (gateway, environment) {
        (Gateway::International, Environment::Sandbox) => parse_sandbox_international,
        (Gateway::International, Environment::Live) => parse_international,
        (_, Environment::Sandbox) => parse_sandbox,
        (_, Environment::Live) => parse_national,
    }
}

fn starts_with_country(value: u64, length: u32, country: u64) -> bool {
    length >= 3 && value / 10_u64.pow(length - 3) == country
}

/// The digits of a spelling, and the characters that matter around them.
#[derive(Clone, Copy)]
struct Digits {
    plus: bool,
    leading_zeros: u32,
    count: u32,
    value: u64,
}

impl Digits {
    fn read(text: &str) -> Option<Self> {
        let mut digits = Self {
            plus: false,
            leading_zeros: 0,
            count: 0,
            value: 0,
        };
        if text.len() > MAX_SPELLING_BYTES {
            return None;
        }
        for character in text.chars() {
            match character {
                '0'..='9' if digits.count < MAX_DIGITS => {
                    digits.count += 1;
                    digits.value = digits.value * 10 + u64::from(character) - u64::from('0');
                    digits.leading_zeros += u32::from(digits.value == 0);
                }
                '+' if digits.count == 0 && !digits.plus => digits.plus = true,
                _ if is_separator(character) => {}
                _ => return None,
            }
        }
        Some(digits)
    }

    /// Returns the ten digits of a Nigerian number in any form. It may not be a mobile one.
    fn national(self) -> Option<u64> {
        let is_spelled_well = match (self.value / NATIONAL, self.count) {
            // 8031234567, 08031234567
            (0, 10 | 11) => !self.plus && self.leading_zeros == self.count - 10,
            // 2348031234567, 23408031234567
            (NIGERIA, 13) | (2340, 14) => true,
            // 002348031234567, 0023408031234567
            (NIGERIA, 15) | (2340, 16) => !self.plus,
            _ => false,
        };
        is_spelled_well.then_some(self.value % NATIONAL)
    }
}

/// Returns `true` if ten national digits are a mobile number by the pattern of libphonenumber:
/// `(?:702[0-24-9]|819[01])\d{6}|(?:7(?:0[13-9]|[12]\d)|8(?:0[1-9]|1[0-8])|9(?:0[1-9]|1[0-6]))\d{7}`.
/// `tests/phonenumbers.rs` compares it with the newest release.
const fn is_mobile(national: u64) -> bool {
    matches!(
        national / 1_000_000,
        7010..=7022 | 7024..=7299 | 8010..=8191 | 9010..=9169
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same pattern on the first four digits.
    fn pattern(prefix: [u64; 4]) -> bool {
        match prefix {
            [7, 0, 2, x] => matches!(x, 0..=2 | 4..=9),
            [8, 1, 9, x] => matches!(x, 0 | 1),
            [7, 0, x, _] => matches!(x, 1 | 3..=9),
            [7, 1 | 2, _, _] => true,
            [8, 1, x, _] => matches!(x, 0..=8),
            [8 | 9, 0, x, _] => matches!(x, 1..=9),
            [9, 1, x, _] => matches!(x, 0..=6),
            _ => false,
        }
    }

    #[test]
    fn a_mobile_number_matches_the_pattern_for_every_prefix() {
        for prefix in 0..10_000u64 {
            let digits = [
                prefix / 1000,
                prefix / 100 % 10,
                prefix / 10 % 10,
                prefix % 10,
            ];
            for rest in [0, 123_456, 999_999] {
                assert_eq!(
                    is_mobile(prefix * 1_000_000 + rest),
                    pattern(digits),
                    "{prefix}"
                );
            }
        }
    }

    #[test]
    fn every_accepted_spelling_is_the_same_recipient() {
        for text in [
            "2348031234567",
            "+2348031234567",
            "002348031234567",
            "08031234567",
            "8031234567",
            "23408031234567",
            "+234 (0) 803-123.4567",
            " 0803 123 4567 ",
            "[0803]1234567",
        ] {
            let recipient = parse_national(text).unwrap();
            assert_eq!(recipient.to_string(), "2348031234567", "{text}");
            assert_eq!(parse_international(text), Some(recipient), "{text}");
            assert_eq!(parse_sandbox(text), Some(recipient), "{text}");
        }
    }

    #[test]
    fn a_number_copied_with_any_separator_is_read() {
        let separators = "\t\u{A0}\u{AD}\u{2002}\u{2009}\u{200B}\u{200C}\u{200D}\u{200E}\u{200F}\u{2010}\u{2011}\
            \u{2012}\u{2013}\u{2014}\u{2015}\u{202A}\u{202B}\u{202C}\u{202D}\u{202E}\u{202F}\u{205F}\u{2060}\
            \u{2066}\u{2069}\u{2212}\u{3000}\u{FE63}\u{FEFF}\u{FF08}\u{FF09}\u{FF0D}\u{FF0E}{}";
        for separator in separators.chars() {
            let text = format!("{separator}0803{separator}891{separator}3321{separator}");
            let read = parse_national(&text).map(Recipient::digits);
            assert_eq!(read, Some(2_348_038_913_321), "{separator:?}");
            let international = format!("{separator}+{separator}44{separator}7911123456");
            let read = parse_international(&international).map(Recipient::digits);
            assert_eq!(read, Some(447_911_123_456), "{separator:?}");
        }
    }

    #[test]
    fn the_range_0910_of_mtn_is_mobile() {
        let recipient = parse_national("09101234567");
        assert_eq!(recipient.map(Recipient::digits), Some(2_349_101_234_567));
    }

    #[test]
    fn any_other_text_than_a_nigerian_mobile_number_is_refused() {
        for text in [
            "",
            "+",
            " - ",
            "0803123456",
            "080312345678",
            "+08031234567",
            "+8031234567",
            "++2348031234567",
            "234+8031234567",
            "0002348031234567",
            "+002348031234567",
            "2340080312345",
            "23480312345678",
            "07031234",
            "0012345678",
            "0000000000",
            "07002345678",
            "08001234567",
            "09171234567",
            "012345678",
            "447911123456",
            "0803123456x",
            "٠٨٠٣١٢٣٤٥٦٧",
            "99999999999999999999999999",
            "2.34803E+12",
            "0803/1234567",
            "0803*1234567",
            "0803\u{B7}1234567x",
            "0803_1234567",
            &format!("08031234567{}", " ".repeat(MAX_SPELLING_BYTES)),
        ] {
            assert_eq!(parse_national(text), None, "{text}");
        }
    }

    #[test]
    fn an_international_number_has_8_to_15_digits_of_any_country() {
        let table = [
            ("447911123456", Some(447_911_123_456)),
            ("+44 7911 123456", Some(447_911_123_456)),
            ("00447911123456", Some(447_911_123_456)),
            ("12345678", Some(12_345_678)),
            ("123456789012345", Some(123_456_789_012_345)),
            ("00123456789012345", Some(123_456_789_012_345)),
            ("1234567", None),
            ("1234567890123456", None),
            ("0447911123456", None),
            ("000447911123456", None),
            ("+00447911123456", None),
            ("2348000000001", None),
            ("2341234567890", None),
            // A stored form of these numbers would be parsed as Nigerian.
            ("+8023612346", None),
            ("008023612346", None),
            ("", None),
        ];
        for (text, digits) in table {
            assert_eq!(
                parse_international(text).map(Recipient::digits),
                digits,
                "{text}"
            );
        }
    }

    #[test]
    fn steering_numbers_are_read_in_the_sandbox_alone() {
        use SandboxOutcome::{
            Delivered, Expired, Failed, Pending, RefuseFunds, RefuseRate, RefuseUnavailable,
            Rejected, Undelivered,
        };
        let outcomes = [
            Delivered,
            Undelivered,
            Expired,
            Rejected,
            Pending,
            Failed,
            RefuseFunds,
            RefuseUnavailable,
            RefuseRate,
        ];
        for (number, outcome) in (2_348_000_000_001u64..).zip(outcomes) {
            let text = number.to_string();
            let recipient = parse_sandbox(&text).unwrap();
            assert_eq!(recipient.sandbox_outcome(), Some(outcome));
            assert_eq!(parse_national(&text), None);
            assert_eq!(parse_international(&text), None);
            assert_eq!(parse_sandbox_international(&text), Some(recipient));
        }
        let abroad = "+447911123456";
        assert_eq!(
            parse_sandbox_international(abroad),
            parse_international(abroad)
        );
        assert_eq!(
            parse_sandbox("08000000003").map(Recipient::digits),
            Some(2_348_000_000_003)
        );
        assert_eq!(parse_sandbox("2348000000000"), None);
        assert_eq!(parse_sandbox("2348000000010"), None);
        assert_eq!(
            Recipient::from_digits(2_348_031_234_567).sandbox_outcome(),
            None
        );
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_repeats_its_result(text in "[-+0-9 .()\u{A0}\u{2011}\u{200B}\u{FEFF}]{0,24}") {
            for parse in [parse_national, parse_international, parse_sandbox, parse_sandbox_international] {
                if let Some(recipient) = parse(&text) {
                    prop_assert_eq!(parse(&recipient.to_string()), Some(recipient));
                }
            }
        }
    }
}
