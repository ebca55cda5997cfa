//! The record of attempts for the operator.

use super::AfterAttempt;
use std::fmt::Write;

/// Maximum number of bytes of an answer that are kept.
pub const MAX_ANSWER_BYTES: usize = 256;

/// Returns `true` if an attempt is recorded. An immediate success is not.
pub const fn is_kept(attempt: i64, next: AfterAttempt) -> bool {
    attempt > 1 || !matches!(next, AfterAttempt::Done)
}

/// Returns the begin of an answer as a single line without control characters.
pub fn shown(answer: &[u8]) -> String {
    let start = &answer[..answer.len().min(MAX_ANSWER_BYTES)];
    let mut line = String::with_capacity(start.len());
    for sign in String::from_utf8_lossy(start).chars() {
        if sign.is_control() || is_invisible(sign) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{}", sign.escape_default());
        } else {
            line.push(sign);
        }
    }
    line
}

/// Returns `true` for invisible characters that change how others are shown.
fn is_invisible(sign: char) -> bool {
    matches!(sign, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_an_immediate_success_is_not_recorded() {
        let retry = AfterAttempt::Retry { at_ms: 7 };
        for (attempt, next, kept) in [
            (1, AfterAttempt::Done, false),
            (2, AfterAttempt::Done, true),
            (1, retry, true),
            (1, AfterAttempt::Dead, true),
            (1, AfterAttempt::EndMessage, true),
        ] {
            assert_eq!(is_kept(attempt, next), kept, "{attempt} {next:?}");
        }
    }

    #[test]
    fn an_answer_is_shown_as_one_line_of_text() {
        for (answer, line) in [
            (&b"OK"[..], "OK"),
            (b"{\"error\":\"no\"}\r\n", "{\"error\":\"no\"}\\r\\n"),
            (b"\x1B[2J\0\x07", "\\u{1b}[2J\\u{0}\\u{7}"),
            ("\u{202E}ẹ".as_bytes(), "\\u{202e}ẹ"),
            (b"\xFF!", "\u{FFFD}!"),
        ] {
            assert_eq!(shown(answer), line);
        }
        assert_eq!(shown(&[b'x'; 1_000]).len(), MAX_ANSWER_BYTES);
    }

    proptest! {
        #[test]
        fn no_answer_has_a_control_character_when_shown(answer: Vec<u8>) {
            prop_assert!(!shown(&answer).chars().any(char::is_control));
        }
    }
}
