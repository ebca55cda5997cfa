//! The comparison of secrets in constant time.

use subtle::ConstantTimeEq;

/// Returns `true` if a given text is the expected secret. An empty secret equals nothing.
pub fn is_secret(expected: &str, given: &str) -> bool {
    !expected.is_empty() && bool::from(expected.as_bytes().ct_eq(given.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_equal_and_an_empty_one_never() {
        for (expected, given, is_equal) in [
            ("secret", "secret", true),
            ("secret", "secreT", false),
            ("secret", "secre", false),
            ("secret", "", false),
            ("", "", false),
        ] {
            assert_eq!(is_secret(expected, given), is_equal, "{expected} {given}");
        }
    }
}
