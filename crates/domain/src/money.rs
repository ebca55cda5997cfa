//! Money as an integer of 1/10,000 naira, so that no price factor needs rounding.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};
use std::str::FromStr;

/// The number of units in one naira.
const UNITS_PER_NAIRA: i64 = 10_000;

/// An amount in ten-thousandths of a naira. A negative amount leaves a wallet.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Money(i64);

impl Money {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// Returns the amount of a stored integer.
    pub const fn from_units(units: i64) -> Self {
        Self(units)
    }

    /// Returns the amount of whole naira.
    pub const fn from_naira(naira: i64) -> Self {
        Self(naira * UNITS_PER_NAIRA)
    }

    /// Returns the integer that is stored.
    pub const fn units(self) -> i64 {
        self.0
    }

    /// Returns `true` if the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` if the amount is above zero.
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Returns the sum, or `None` if it overflows.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the product, or `None` if it overflows.
    pub fn checked_mul(self, count: i64) -> Option<Self> {
        self.0.checked_mul(count).map(Self)
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl SubAssign for Money {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Neg for Money {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Mul<i64> for Money {
    type Output = Self;
    fn mul(self, count: i64) -> Self {
        Self(self.0 * count)
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// Naira with two to four decimals: `1234.50`, `-0.0625`.
///
/// The text is a valid JSON number, so no amount is ever a float.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = self.0.unsigned_abs();
        let per_naira = UNITS_PER_NAIRA.unsigned_abs();
        let (naira, rest) = (units / per_naira, units % per_naira);
        if rest.is_multiple_of(100) {
            write!(f, "{sign}{naira}.{:02}", rest / 100)
        } else if rest.is_multiple_of(10) {
            write!(f, "{sign}{naira}.{:03}", rest / 10)
        } else {
            write!(f, "{sign}{naira}.{rest:04}")
        }
    }
}

/// The text is not an amount.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an amount in naira with at most four decimals, such as 1000.00")]
pub struct NotMoney;

/// Parses digits with at most four decimals and an optional sign, without separators and exponent.
impl FromStr for Money {
    type Err = NotMoney;

    fn from_str(text: &str) -> Result<Self, NotMoney> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (naira, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        if !all_digits(naira) || !all_digits(decimals) || decimals.len() > 4 {
            return Err(NotMoney);
        }
        let naira: i64 = naira.parse().map_err(|_| NotMoney)?;
        let decimals: i64 = format!("{decimals:0<4}").parse().map_err(|_| NotMoney)?;
        let units = naira
            .checked_mul(UNITS_PER_NAIRA)
            .and_then(|units| units.checked_add(decimals))
            .ok_or(NotMoney)?;
        Ok(Self(if negative { -units } else { units }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_amount_reads_as_naira_with_two_to_four_decimals() {
        let table = [
            (0, "0.00"),
            (60_000, "6.00"),
            (65_000, "6.50"),
            (625, "0.0625"),
            (-12_345, "-1.2345"),
            (10_010, "1.001"),
        ];
        for (units, text) in table {
            assert_eq!(Money::from_units(units).to_string(), text);
        }
    }

    #[test]
    fn amounts_are_ten_thousandths_within_their_range() {
        let (two, five) = (Money::from_naira(2), Money::from_units(50_000));
        assert_eq!((two.units(), five.units()), (20_000, 50_000));
        assert_eq!(
            (five - two, two + five),
            (Money::from_naira(3), Money::from_naira(7))
        );
        assert_eq!(
            (-two, two * 3),
            (Money::from_units(-20_000), Money::from_naira(6))
        );
        let mut sum = five;
        sum += two;
        sum -= Money::from_naira(1);
        assert_eq!(sum, [two, two, two].into_iter().sum());
        assert_eq!(two.checked_add(five), Some(Money::from_naira(7)));
        assert_eq!(two.checked_mul(4), Some(Money::from_naira(8)));
        let most = Money::from_units(i64::MAX);
        assert_eq!((most.checked_add(two), most.checked_mul(2)), (None, None));
        let kinds = [-two, Money::ZERO, two].map(|money| (money.is_zero(), money.is_positive()));
        assert_eq!(kinds, [(false, false), (true, false), (false, true)]);
    }

    #[test]
    fn any_other_text_than_an_amount_is_refused() {
        for text in [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "1,000",
            "1e3",
            "1.00001",
            "+1",
            " 1",
            "99999999999999999",
        ] {
            assert_eq!(text.parse::<Money>(), Err(NotMoney), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_displayed_amount_parses_to_itself(units in -(1i64 << 60)..(1i64 << 60)) {
            let money = Money::from_units(units);
            prop_assert_eq!(money.to_string().parse::<Money>(), Ok(money));
        }
    }
}
