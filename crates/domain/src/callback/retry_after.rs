//! The header `Retry-After` (RFC 9110, section 10.2.3).

use std::str::FromStr;

const MS_PER_SECOND: i64 = 1000;
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// The moment that is meant, Unix milliseconds: so many seconds from now, or a date.
pub(super) fn read(text: &str, now_ms: i64) -> Option<i64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than an integer holds mean very long; the caller limits it.
        let seconds: i64 = text.parse().unwrap_or(i64::MAX);
        return Some(now_ms.saturating_add(seconds.saturating_mul(MS_PER_SECOND)));
    }
    date_ms(text)
}

/// Reads the one form of date that may be sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date_ms(text: &str) -> Option<i64> {
    let (_weekday, rest) = text.split_once(", ")?;
    let mut words = rest.split(' ');
    let day = number(words.next()?, 2)?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|&name| name == month)?;
    let year = number(words.next()?, 4)?;
    let mut time = words.next()?.split(':');
    let mut part = || number(time.next()?, 2);
    let (hour, minute, second) = (part()?, part()?, part()?);
    let in_range = (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    if !in_range || time.next().is_some() || words.next() != Some("GMT") || words.next().is_some() {
        return None;
    }
    let days = days_since_1970(year, i64::try_from(month).ok()? + 1, day);
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * MS_PER_SECOND)
}

fn number(text: &str, digits: usize) -> Option<i64> {
    let all_digits = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
    all_digits.then(|| i64::from_str(text).ok()).flatten()
}

/// Days of the Gregorian calendar; years are counted from March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days_before_1970 = 719_469;
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - days_before_1970
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
            ("Thu, 31 Dec 2026 23:59:59 GMT", 1_798_761_599_000),
        ];
        for (text, at_ms) in table {
            assert_eq!(read(text, NOW), Some(at_ms), "{text}");
        }
    }

    #[test]
    fn what_is_neither_is_ignored() {
        for text in [
            "",
            "-1",
            "1.5",
            "soon",
            "Sunday, 06-Nov-94 08:49:37 GMT",
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
