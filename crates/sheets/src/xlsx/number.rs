//! Numbers and dates of cells as text.

use crate::row::CellFault;

/// The largest number of digits that a float keeps.
const MAX_WHOLE: f64 = 1e15;
/// The days between 1970-01-01 and the day before serial 1, with the leap day of 1900 that Excel
/// counts.
const EPOCH_1900: i64 = 25_569;
/// The days between the epochs 1900 and 1904.
const EPOCH_1904: i64 = 1_462;
/// The first serial after 9999-12-31.
const MAX_SERIAL: f64 = 2_958_466.0;
const DAY_MINUTES: i64 = 1_440;

/// Returns a number as a spreadsheet shows it: a whole one as digits, another one with 15 digits.
pub(super) fn text_of(value: f64) -> Result<String, CellFault> {
    if !value.is_finite() || value.abs() >= MAX_WHOLE {
        return Err(CellFault::DigitsLost);
    }
    let shown: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if shown == 0.0 {
        return Ok("0".to_owned());
    }
    Ok(format!("{shown}"))
}

/// Returns a serial number as date, as time, or as both. `None` is no date.
pub(super) fn date_of(serial: f64, from_1904: bool) -> Option<String> {
    if !(0.0..MAX_SERIAL).contains(&serial) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    let minutes = (serial * 1_440.0).round() as i64;
    let (day, minute) = (minutes / DAY_MINUTES, minutes % DAY_MINUTES);
    let time = format!("{:02}:{:02}", minute / 60, minute % 60);
    if day == 0 {
        return Some(time);
    }
    let epoch = if from_1904 {
        EPOCH_1900 - EPOCH_1904
    } else if day < 60 {
        // Days before the leap day that did not exist.
        EPOCH_1900 - 1
    } else {
        EPOCH_1900
    };
    let (year, month, day) = civil(day - epoch);
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if minute == 0 {
        date
    } else {
        format!("{date} {time}")
    })
}

/// Returns year, month and day of a day since 1970-01-01 (Howard Hinnant, `civil_from_days`).
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + next, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_float_is_digits_and_others_have_15() {
        let table = [
            (2_348_031_234_567.0, "2348031234567"),
            (2.348_031_234_567E12, "2348031234567"),
            (8_031_234_567.0, "8031234567"),
            (0.1 + 0.2, "0.3"),
            (1234.5, "1234.5"),
            (-7.0, "-7"),
            (-0.0, "0"),
            (999_999_999_999_999.0, "999999999999999"),
        ];
        for (value, text) in table {
            assert_eq!(text_of(value).as_deref(), Ok(text));
        }
        for value in [1e15, -1e15, f64::NAN, f64::INFINITY] {
            assert_eq!(text_of(value), Err(CellFault::DigitsLost));
        }
    }

    #[test]
    fn a_serial_is_a_date_of_its_epoch() {
        let table = [
            (46_355.0, false, Some("2026-11-29")),
            (46_355.5, false, Some("2026-11-29 12:00")),
            (44_893.0, true, Some("2026-11-29")),
            (0.25, false, Some("06:00")),
            (1.0, false, Some("1900-01-01")),
            (61.0, false, Some("1900-03-01")),
            (2_958_465.0, false, Some("9999-12-31")),
            (2_958_466.0, false, None),
            (-1.0, false, None),
            (f64::NAN, false, None),
        ];
        for (serial, from_1904, date) in table {
            assert_eq!(date_of(serial, from_1904).as_deref(), date, "{serial}");
        }
    }
}
