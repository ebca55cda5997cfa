//! Percentages with at most two decimals, and their share of an amount.

use crate::money::Money;
use std::fmt;
use std::str::FromStr;

/// The number of parts in the whole.
const WHOLE: i64 = 10_000;
/// Money units in a kobo.
pub(super) const UNITS_PER_KOBO: i64 = 100;

/// A percentage from 0 to 100, in hundredths of a percent.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Percent(i64);

impl Percent {
    /// Returns the percentage of a stored integer.
    pub const fn from_hundredths(hundredths: i64) -> Self {
        Self(hundredths)
    }

    /// Returns the integer that is stored.
    pub const fn hundredths(self) -> i64 {
        self.0
    }

    /// Returns the share of a positive amount, rounded half up to the kobo.
    #[must_use]
    pub fn of(self, amount: Money) -> Money {
        let parts = i128::from(amount.units()) * i128::from(self.0);
        let kobo = i128::from(WHOLE) * i128::from(UNITS_PER_KOBO);
        let rounded = (parts + kobo / 2) / kobo;
        Money::from_units(
            i64::try_from(rounded).unwrap_or(i64::MAX / UNITS_PER_KOBO) * UNITS_PER_KOBO,
        )
    }
}

/// The text is not a percentage.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a percentage from 0 to 100 with at most two decimals, such as 7.5")]
pub struct NotPercent;

impl FromStr for Percent {
    type Err = NotPercent;

    fn from_str(text: &str) -> Result<Self, NotPercent> {
        // Money reads the same digits, with up to four decimals.
        let units = text.parse::<Money>().map_err(|_| NotPercent)?.units();
        let hundredths = units / UNITS_PER_KOBO;
        if units % UNITS_PER_KOBO != 0 || !(0..=WHOLE).contains(&hundredths) {
            return Err(NotPercent);
        }
        Ok(Self(hundredths))
    }
}

/// The shortest text: `7.5`, `0`, `100`.
impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, self.0 % 100);
        if rest == 0 {
            write!(f, "{whole}")
        } else if rest % 10 == 0 {
            write!(f, "{whole}.{}", rest / 10)
        } else {
            write!(f, "{whole}.{rest:02}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_at_most_two_decimals() {
        for text in ["0", "7.5", "5", "33.33", "0.05", "100"] {
            assert_eq!(text.parse::<Percent>().unwrap().to_string(), text);
        }
        for text in ["", "-1", "100.01", "7.555", "7,5", "7.5%"] {
            assert_eq!(text.parse::<Percent>(), Err(NotPercent), "{text:?}");
        }
    }

    #[test]
    fn a_share_is_rounded_half_up_to_the_kobo() {
        let table = [
            ("7.5", "1000.00", "75.00"),
            ("7.5", "500.00", "37.50"),
            ("7.5", "0.06", "0.00"),
            ("7.5", "0.07", "0.01"),
            // 0.075 exactly lies between two kobo.
            ("7.5", "1.00", "0.08"),
            ("7.5", "1000.20", "75.02"),
            ("0", "1000.00", "0.00"),
            ("100", "0.01", "0.01"),
        ];
        for (percent, amount, share) in table {
            let (percent, amount): (Percent, Money) =
                (percent.parse().unwrap(), amount.parse().unwrap());
            assert_eq!(
                percent.of(amount).to_string(),
                share,
                "{percent} of {amount}"
            );
        }
    }
}
