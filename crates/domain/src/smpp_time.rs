//! Times as SMPP clients write them (SMPP 3.4, section 7.1.1): `YYMMDDhhmmsstnnp` in 16 characters,
//! absolute with a distance from UTC, or relative with `R` at the end.

use crate::schedule::{MAX_VALIDITY_S, MIN_VALIDITY_S, check_send_at};
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Number of characters of a time.
const CHARACTERS: usize = 16;
const SECOND_MS: i64 = 1_000;
const DAY_S: i64 = 86_400;

/// A time is malformed, or out of range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TimeFault {
    /// The text has another form.
    #[error("the time must be YYMMDDhhmmsstnnp, with +, - or R at its end")]
    Form,
    /// The due time is in the past, or too far ahead.
    #[error("the due time must be from now to 90 days ahead")]
    Schedule,
    /// The end of the validity is too early.
    #[error("the validity must end at least 60 seconds after the due time")]
    Validity,
}

/// Parses `schedule_delivery_time` to Unix milliseconds. Returns `None` for now.
pub fn schedule(text: &str, now_ms: i64) -> Result<Option<i64>, TimeFault> {
    let Some(at_ms) = parse(text, now_ms)? else {
        return Ok(None);
    };
    check_send_at(at_ms, now_ms).map_err(|_| TimeFault::Schedule)
}

/// Parses `validity_period` to seconds after the due time. A relative one begins now. The gateway
/// limits a longer one than 48 hours anyway.
pub fn validity_s(text: &str, due_ms: Option<i64>, now_ms: i64) -> Result<Option<i64>, TimeFault> {
    let Some(end_ms) = parse(text, now_ms)? else {
        return Ok(None);
    };
    let seconds = (end_ms - due_ms.unwrap_or(now_ms)).div_euclid(SECOND_MS);
    if seconds < MIN_VALIDITY_S {
        return Err(TimeFault::Validity);
    }
    Ok(Some(seconds.min(MAX_VALIDITY_S)))
}

/// Parses a time to Unix milliseconds. An empty one is `None`.
fn parse(text: &str, now_ms: i64) -> Result<Option<i64>, TimeFault> {
    if text.is_empty() {
        return Ok(None);
    }
    let (digits, sign) = text
        .split_at_checked(CHARACTERS - 1)
        .filter(|(digits, _)| digits.bytes().all(|byte| byte.is_ascii_digit()))
        .ok_or(TimeFault::Form)?;
    let field = |at: usize, many: usize| digits[at..at + many].parse().unwrap_or(0);
    let fields: [i64; 6] = std::array::from_fn(|index| field(2 * index, 2));
    let quarters = field(13, 2);
    let at_ms = match sign {
        "R" => now_ms + relative_s(fields) * SECOND_MS,
        "+" => absolute_ms(fields, quarters).ok_or(TimeFault::Form)?,
        "-" => absolute_ms(fields, -quarters).ok_or(TimeFault::Form)?,
        _ => return Err(TimeFault::Form),
    };
    Ok(Some(at_ms))
}

/// Years have 365 days here, and months 30.
const fn relative_s([years, months, days, hours, minutes, seconds]: [i64; 6]) -> i64 {
    let days = 365 * years + 30 * months + days;
    days * DAY_S + hours * 3_600 + minutes * 60 + seconds
}

fn absolute_ms(fields: [i64; 6], quarters: i64) -> Option<i64> {
    let [year, month, day, hour, minute, second] = fields.map(|field| i8::try_from(field).ok());
    let year = 2_000 + i16::from(year?);
    let at = DateTime::new(year, month?, day?, hour?, minute?, second?, 0).ok()?;
    let offset = Offset::from_seconds(i32::try_from(quarters * 900).ok()?).ok()?;
    Some(offset.to_timestamp(at).ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-30 00:00:00 in UTC.
    const NOW: i64 = 1_795_996_800_000;
    const HOUR: i64 = 3_600_000;

    #[test]
    fn a_due_time_is_absolute_or_relative() {
        let table = [
            ("", Ok(None)),
            ("261130010000000+", Ok(Some(NOW + HOUR))),
            ("261130020000004+", Ok(Some(NOW + HOUR))),
            ("261129200000020-", Ok(Some(NOW + HOUR))),
            ("000000010000000R", Ok(Some(NOW + HOUR))),
            ("000100000000000R", Ok(Some(NOW + 30 * 24 * HOUR))),
            ("261129235930000+", Ok(None)),
            ("261129230000000+", Err(TimeFault::Schedule)),
            ("000400000000000R", Err(TimeFault::Schedule)),
            ("261301000000000+", Err(TimeFault::Form)),
            ("261130010000000", Err(TimeFault::Form)),
            ("261130010000000*", Err(TimeFault::Form)),
            ("2611300100000000R", Err(TimeFault::Form)),
            ("26113001000000xR", Err(TimeFault::Form)),
            ("26113001000000é+", Err(TimeFault::Form)),
        ];
        for (text, expected) in table {
            assert_eq!(schedule(text, NOW), expected, "{text}");
        }
    }

    #[test]
    fn a_validity_is_counted_from_the_due_time() {
        let table = [
            ("", None, Ok(None)),
            ("000000010000000R", None, Ok(Some(3_600))),
            ("000000020000000R", Some(NOW + HOUR), Ok(Some(3_600))),
            ("261130020000000+", Some(NOW + HOUR), Ok(Some(3_600))),
            ("000007000000000R", None, Ok(Some(MAX_VALIDITY_S))),
            ("000000000059000R", None, Err(TimeFault::Validity)),
            (
                "000000010000000R",
                Some(NOW + HOUR),
                Err(TimeFault::Validity),
            ),
            ("x", None, Err(TimeFault::Form)),
        ];
        for (text, due_ms, expected) in table {
            assert_eq!(validity_s(text, due_ms, NOW), expected, "{text}");
        }
    }
}
