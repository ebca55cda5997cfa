//! The header `Retry-After` (RFC 9110, section 10.2.3).

use std::time::SystemTime;

const MS_PER_SECOND: i64 = 1000;

/// Returns the time of a header in Unix milliseconds. The header has seconds from now, or a date.
pub(super) fn read(text: &str, now_ms: i64) -> Option<i64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than an integer has mean a very long time, which the caller limits.
        let seconds: i64 = text.parse().unwrap_or(i64::MAX);
        return Some(now_ms.saturating_add(seconds.saturating_mul(MS_PER_SECOND)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let since_1970 = date.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_000_000_000;

    #[test]
    fn seconds_count_from_now_and_dates_are_absolute() {
        let table = [
            ("0", NOW),
            (" 30 ", NOW + 30_000),
            ("99999999999999999999", i64::MAX),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000_000),
            ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200_000),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777_000),
            ("Sun Nov  6 08:49:37 1994", 784_111_777_000),
            ("Thu, 31 Dec 2026 23:59:59 GMT", 1_798_761_599_000),
        ];
        for (text, at_ms) in table {
            assert_eq!(read(text, NOW), Some(at_ms), "{text}");
        }
    }

    #[test]
    fn any_other_text_is_ignored() {
        for text in [
            "",
            "-1",
            "1.5",
            "soon",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT x",
        ] {
            assert_eq!(read(text, NOW), None, "{text}");
        }
    }
}
