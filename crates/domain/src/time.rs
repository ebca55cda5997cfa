//! Times in requests: RFC 3339 with an offset, or `YYYY-MM-DD HH:MM:SS` in Africa/Lagos.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// The accepted forms, for refusals.
pub const FORMS: &str = "RFC 3339 with an offset, such as 2027-01-31T18:00:00+01:00, or YYYY-MM-DD HH:MM:SS in Africa/Lagos";

/// Lagos is one hour ahead of UTC all year, so no time-zone database is needed.
const LAGOS: Offset = Offset::constant(1);
/// The length of `YYYY-MM-DD HH:MM:SS`.
const WITHOUT_OFFSET: usize = 19;

/// The text has none of the [`FORMS`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a time; the forms are {FORMS}")]
pub struct NotTime;

/// Writes a time as `YYYY-MM-DD HH:MM:SS` in Africa/Lagos. A time that no calendar has is written as the first of 1970.
pub fn lagos_time(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    let at = LAGOS.to_datetime(at);
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Parses a time to Unix milliseconds. Smaller fractions are cut.
///
/// A blank before an offset counts as a plus, because query strings encode a blank as `+`.
pub fn parse_time(text: &str) -> Result<i64, NotTime> {
    let text = text.trim();
    let (date_time, rest) = text.split_at_checked(WITHOUT_OFFSET).ok_or(NotTime)?;
    let separator = separator_of(date_time).ok_or(NotTime)?;
    let (fraction_ms, offset) = fraction(rest).ok_or(NotTime)?;
    let offset = match offset {
        "" if rest.is_empty() && separator == b' ' => LAGOS,
        _ => offset_of(offset).ok_or(NotTime)?,
    };
    let date_time: DateTime = date_time.parse().map_err(|_| NotTime)?;
    let at = offset.to_timestamp(date_time).map_err(|_| NotTime)?;
    Ok(at.as_millisecond() + fraction_ms)
}

/// Returns the character between date and time, if all digits and separators are at their
/// positions.
fn separator_of(date_time: &str) -> Option<u8> {
    let bytes = date_time.as_bytes();
    let fits = bytes.iter().enumerate().all(|(at, byte)| match at {
        4 | 7 => *byte == b'-',
        10 => matches!(byte, b'T' | b't' | b' '),
        13 | 16 => *byte == b':',
        _ => byte.is_ascii_digit(),
    });
    fits.then(|| bytes.get(10).copied())?
}

/// Returns the milliseconds of a fraction of a second, and the rest after it.
fn fraction(rest: &str) -> Option<(i64, &str)> {
    let Some(after_point) = rest.strip_prefix('.') else {
        return Some((0, rest));
    };
    let end = after_point.find(|c: char| !c.is_ascii_digit())?;
    let (digits, rest) = after_point.split_at(end);
    if digits.is_empty() {
        return None;
    }
    let thousandths = digits.bytes().chain([b'0'; 3]).take(3);
    let ms = thousandths.fold(0, |ms, digit| ms * 10 + i64::from(digit - b'0'));
    Some((ms, rest))
}

/// Parses `Z`, `+01:00` or `-01:00`.
fn offset_of(text: &str) -> Option<Offset> {
    if text.eq_ignore_ascii_case("z") {
        return Some(Offset::UTC);
    }
    let (sign, digits) = text.split_at_checked(1)?;
    let sign = match sign {
        "+" | " " => 1,
        "-" => -1,
        _ => return None,
    };
    let two = |text: &str| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i32>().ok().filter(|_| is_number)
    };
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_name_the_same_moment() {
        let at = 1_801_414_800_000;
        let table = [
            ("2027-01-31 18:00:00", at),
            ("2027-01-31T18:00:00+01:00", at),
            ("2027-01-31T17:00:00Z", at),
            ("2027-01-31t17:00:00z", at),
            ("2027-01-31 17:00:00Z", at),
            ("2027-01-31T12:30:00-04:30", at),
            ("2027-01-31T18:00:00 01:00", at),
            (" 2027-01-31 18:00:00 ", at),
            ("2027-01-31T17:00:00.25Z", at + 250),
            ("2027-01-31T17:00:00.123999Z", at + 123),
            ("2027-01-31T17:00:00-00:00", at),
            ("2028-02-29T23:59:59+23:59", 1_835_395_259_000),
        ];
        for (text, expected) in table {
            assert_eq!(parse_time(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn any_other_form_is_refused() {
        for text in [
            "",
            "now",
            "2027-01-31",
            "2027-01-31T18:00:00",
            "2027-01-31T18:00",
            "2027-01-31 18:00",
            "2027-01-31 18:00:00.5",
            "2027-02-29 18:00:00",
            "2027-13-01 18:00:00",
            "2027-01-31 24:00:00",
            "2027-01-31 18:60:00",
            "2027-01-31T18:00:00+1:00",
            "2027-01-31T18:00:00+0100",
            "2027-01-31T18:00:00+24:00",
            "2027-01-31T18:00:00+01:60",
            "2027-01-31T18:00:00.Z",
            "2027-01-31T18:00:00.5",
            "2027-01-31T18:00:00ZZ",
            "2027-01-31T18:00:00Z[Africa/Lagos]",
            "31-01-2027 18:00:00",
            "20270131T180000Z",
            "1801414800",
            "2027-01-31T18:00:0ẹ",
            "+2027-01-31 18:00:00",
        ] {
            assert_eq!(parse_time(text), Err(NotTime), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "[0-9TtZz:+. -]{0,30}|\\PC{0,24}") {
            let _ = parse_time(&text);
        }

        #[test]
        fn a_formatted_time_parses_to_itself(seconds in 0..4_000_000_000_i64, offset in -23..=23_i32) {
            let offset = Offset::from_seconds(offset * 3_600).unwrap();
            let at = jiff::Timestamp::from_second(seconds).unwrap();
            let local = offset.to_datetime(at).strftime("%Y-%m-%dT%H:%M:%S").to_string();
            let hours = offset.seconds() / 3_600;
            prop_assert_eq!(parse_time(&format!("{local}{hours:+03}:00")), Ok(seconds * 1_000));
        }
    }
}
