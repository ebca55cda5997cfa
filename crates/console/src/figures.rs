//! Numbers, amounts and times as screens show them.

use domain::Money;
use domain::time::lagos_time;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A value or a reference to one, because templates pass references.
pub trait Given<T> {
    /// Returns the value.
    fn given(self) -> T;
}

impl<T: Copy> Given<T> for T {
    fn given(self) -> T {
        self
    }
}

impl<T: Copy> Given<T> for &T {
    fn given(self) -> T {
        *self
    }
}

impl<T: Copy> Given<T> for &&T {
    fn given(self) -> T {
        **self
    }
}

/// Returns a number with a comma after each three digits: `12,345`.
pub fn count(number: impl Given<u64>) -> String {
    grouped(&number.given().to_string())
}

/// Returns an amount in naira with at least two decimals: `₦12,345.50`.
pub fn naira(amount: impl Given<Money>) -> String {
    let text = amount.given().to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("−", digits),
        None => ("", text.as_str()),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "00"));
    format!("{sign}₦{}.{decimals}", grouped(whole))
}

/// Returns a text with a capital letter at its begin.
pub fn capitalised(text: &str) -> String {
    let mut signs = text.chars();
    let first = signs.next().into_iter().flat_map(char::to_uppercase);
    first.chain(signs).collect()
}

/// Returns a share in percent with one decimal: `97.3 %`. A share of nothing is a dash.
///
/// A share is cut and not rounded, so only a whole is `100.0 %`.
pub fn percent(part: u64, whole: u64) -> String {
    match part.saturating_mul(1000).checked_div(whole) {
        Some(per_mille) => format!("{}.{} %", per_mille / 10, per_mille % 10),
        None => "–".to_owned(),
    }
}

/// Returns a number in at most four characters, for axes: `950`, `1.2k`, `12k`, `3.4M`.
pub fn short(number: i64) -> String {
    for (unit, name) in [(1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")] {
        if number >= unit {
            let (whole, tenth) = (number / unit, number % unit * 10 / unit);
            return if whole >= 10 || tenth == 0 {
                format!("{whole}{name}")
            } else {
                format!("{whole}.{tenth}{name}")
            };
        }
    }
    number.to_string()
}

/// Returns a time in Lagos: `29 Nov 2026, 16:06:42`.
pub fn time(at_ms: impl Given<i64>) -> String {
    let at_ms = at_ms.given();
    let time = lagos_time(at_ms);
    let clock = time.get(11..).unwrap_or_default();
    format!("{}, {clock}", date(at_ms))
}

/// Returns a day in Lagos: `29 Nov 2026`.
pub fn date(at_ms: impl Given<i64>) -> String {
    let time = lagos_time(at_ms.given());
    let part = |range| time.get(range).unwrap_or_default();
    let month = part(5..7).parse().unwrap_or(1_usize);
    let month = MONTHS.get(month.wrapping_sub(1)).unwrap_or(&"");
    let day = part(8..10).trim_start_matches('0');
    format!("{day} {month} {}", part(0..4))
}

/// Returns a time for the attribute `datetime`: `2026-11-29T16:06:42+01:00`.
pub fn machine_time(at_ms: impl Given<i64>) -> String {
    format!("{}+01:00", lagos_time(at_ms.given()).replace(' ', "T"))
}

/// Returns the age of an event: `now`, `12 s ago`, `5 min ago`, `3 h ago`, and its day after that.
pub fn ago(now_ms: impl Given<i64>, at_ms: impl Given<i64>) -> String {
    let at_ms = at_ms.given();
    match now_ms.given() - at_ms {
        age if age < SECOND_MS => "now".to_owned(),
        age if age < DAY_MS => format!("{} ago", duration(age)),
        _ => date(at_ms),
    }
}

/// Returns a duration in one unit: `250 ms`, `12 s`, `5 min`, `3 h`, `2 d`.
pub fn duration(duration_ms: i64) -> String {
    match duration_ms {
        short if short < SECOND_MS => format!("{short} ms"),
        short if short < MINUTE_MS => format!("{} s", short / SECOND_MS),
        short if short < HOUR_MS => format!("{} min", short / MINUTE_MS),
        long if long < DAY_MS => format!("{} h", long / HOUR_MS),
        long => format!("{} d", long / DAY_MS),
    }
}

/// Returns a noun with its number: `1 message`, `2 messages`, `2 entries`.
pub fn counted(number: u64, noun: &str) -> String {
    let number_text = count(number);
    let stem = noun.strip_suffix('y');
    let stem = stem.filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match stem {
        _ if number == 1 => format!("{number_text} {noun}"),
        Some(stem) => format!("{number_text} {stem}ies"),
        None => format!("{number_text} {noun}s"),
    }
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_a_comma_after_three_digits() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_345, "12,345"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in cases {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn an_amount_is_in_naira_with_two_to_four_decimals() {
        let cases = [
            (0, "₦0.00"),
            (65_000, "₦6.50"),
            (123_456_789_000, "₦12,345,678.90"),
            (625, "₦0.0625"),
            (-12_345_000, "−₦1,234.50"),
        ];
        for (units, text) in cases {
            assert_eq!(naira(Money::from_units(units)), text);
        }
    }

    #[test]
    fn only_a_whole_is_100_percent() {
        let cases = [
            (0, 0, "–"),
            (0, 7, "0.0 %"),
            (1, 3, "33.3 %"),
            (9999, 10_000, "99.9 %"),
            (5, 5, "100.0 %"),
        ];
        for (part, whole, text) in cases {
            assert_eq!(percent(part, whole), text);
        }
    }

    #[test]
    fn an_axis_has_short_numbers() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (1_250, "1.2k"),
            (12_500, "12k"),
            (3_400_000, "3.4M"),
            (2_000_000_000, "2B"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }

    #[test]
    fn a_time_is_that_of_lagos() {
        let at_ms = 1_795_968_402_000;
        assert_eq!(machine_time(at_ms), "2026-11-29T17:06:42+01:00");
        assert_eq!(time(at_ms), "29 Nov 2026, 17:06:42");
        assert_eq!(date(at_ms - 25 * DAY_MS), "4 Nov 2026");
    }

    #[test]
    fn an_age_is_in_its_largest_unit() {
        let now = 1_795_968_402_000;
        let cases = [
            (0, "now"),
            (-5 * SECOND_MS, "now"),
            (12 * SECOND_MS, "12 s ago"),
            (5 * MINUTE_MS, "5 min ago"),
            (3 * HOUR_MS, "3 h ago"),
            (2 * DAY_MS, "27 Nov 2026"),
        ];
        for (age, text) in cases {
            assert_eq!(ago(now, now - age), text);
        }
        assert_eq!(duration(250), "250 ms");
        assert_eq!(counted(1, "message"), "1 message");
        assert_eq!(counted(1200, "message"), "1,200 messages");
        assert_eq!(counted(1, "entry"), "1 entry");
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "day"), "2 days");
    }
}
