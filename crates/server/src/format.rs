//! The form of amounts and times in the API and in the commands. Amounts are never floats, and
//! times are in Lagos.

use domain::Money;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// An amount as a JSON number with two to four decimals, written from the integer.
#[derive(Clone, Copy)]
pub(crate) struct Naira(pub(crate) Money);

impl Serialize for Naira {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

/// Lagos is one hour ahead of UTC all year, so no time-zone database is needed.
const LAGOS: Offset = Offset::constant(1);

/// A time as `YYYY-MM-DD HH:MM:SS` in Africa/Lagos.
#[derive(Clone, Copy)]
pub(crate) struct LagosTime {
    /// Unix milliseconds.
    pub(crate) at_ms: i64,
}

impl Serialize for LagosTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let at = Timestamp::from_millisecond(self.at_ms).map_err(S::Error::custom)?;
        serializer.serialize_str(&in_lagos(at))
    }
}

/// Returns the time in Lagos for people. A time outside of the calendar becomes the first of 1970.
pub(crate) fn lagos_time(at_ms: i64) -> String {
    in_lagos(Timestamp::from_millisecond(at_ms).unwrap_or_default())
}

/// Reads a time in Africa/Lagos, such as `2027-01-31 18:00:00`, or a day, which stands for its
/// beginning. Returns Unix milliseconds.
pub(crate) fn parse_lagos_time(text: &str) -> Option<i64> {
    let at: DateTime = text.parse().ok()?;
    Some(LAGOS.to_timestamp(at).ok()?.as_millisecond())
}

/// Returns the time in Lagos as an absolute time of SMPP (SMPP 3.4, section 7.1.1).
pub(crate) fn smpp_time(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    // One hour ahead of UTC is four quarters.
    LAGOS
        .to_datetime(at)
        .strftime("%y%m%d%H%M%S004+")
        .to_string()
}

fn in_lagos(at: Timestamp) -> String {
    LAGOS
        .to_datetime(at)
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_a_json_number_that_never_was_a_float() {
        let table = [
            (0, "0.00"),
            (60_000, "6.00"),
            (625, "0.0625"),
            (-12_340, "-1.234"),
            (i64::MAX, "922337203685477.5807"),
        ];
        for (units, json) in table {
            let written = serde_json::to_string(&Naira(Money::from_units(units))).unwrap();
            assert_eq!(written, json);
        }
    }

    #[test]
    fn a_time_of_smpp_names_its_distance_from_utc() {
        assert_eq!(smpp_time(1_796_000_461_000), "261130020101004+");
    }

    #[test]
    fn a_time_is_read_as_it_is_written() {
        let table = [
            ("2026-11-18 12:06:40", Some(1_795_000_000_000)),
            ("2026-11-18T12:06:40", Some(1_795_000_000_000)),
            ("2027-01-01", Some(1_798_758_000_000)),
            ("2027-02-29", None),
            ("tomorrow", None),
            ("", None),
        ];
        for (text, at_ms) in table {
            assert_eq!(parse_lagos_time(text), at_ms, "{text}");
        }
        let at_ms = parse_lagos_time("2026-11-18 12:06:40").unwrap();
        assert_eq!(lagos_time(at_ms), "2026-11-18 12:06:40");
    }

    #[test]
    fn times_are_those_of_lagos() {
        let table = [
            (0, "\"1970-01-01 01:00:00\""),
            (1_795_000_000_999, "\"2026-11-18 12:06:40\""),
            (1_798_758_000_000, "\"2027-01-01 00:00:00\""),
        ];
        for (at_ms, json) in table {
            assert_eq!(serde_json::to_string(&LagosTime { at_ms }).unwrap(), json);
        }
    }
}
