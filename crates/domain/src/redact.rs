//! Hides phone numbers in free text.

/// The minimum number of digits of a phone number.
const MIN_DIGITS: usize = 10;
/// The number of last digits that are hidden.
const HIDDEN_DIGITS: usize = 4;

/// Returns the text with asterisks for the last digits of every possible phone number.
pub fn redact(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let run = &rest[start..];
        let length = run.find(|c: char| !c.is_ascii_digit()).unwrap_or(run.len());
        let hidden = if length < MIN_DIGITS {
            0
        } else {
            HIDDEN_DIGITS
        };
        masked.push_str(&rest[..start + length - hidden]);
        masked.extend(std::iter::repeat_n('*', hidden));
        rest = &run[length..];
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_possible_number_is_hidden() {
        for (text, expected) in [
            ("", ""),
            ("bank-2026-11-21-0017", "bank-2026-11-21-0017"),
            ("paid by 08031234567, thanks", "paid by 0803123****, thanks"),
            ("8031234567", "803123****"),
            ("803123456", "803123456"),
            ("ọ2348031234567ọ12", "ọ234803123****ọ12"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }
}
