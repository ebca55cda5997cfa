//! Revenue: what customers paid in and spent in a month, and what parents got of it.

use crate::daily_limit::{day_begins_at, lagos_day};
use crate::money::Money;
use crate::time::{lagos_time, parse_time};
use crate::wallet::Component;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Maximum number of months of a report.
pub const MAX_MONTHS: u8 = 24;
/// The first and the last year of a report.
const YEARS: RangeInclusive<i64> = 1970..=9998;

/// A month in Lagos, as months since the year 0.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Month(i64);

/// The text is not a month.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a month such as 2027-01")]
pub struct NotMonth;

impl Month {
    /// Returns the month of a time in Unix milliseconds.
    pub fn of(at_ms: i64) -> Self {
        let time = lagos_time(at_ms);
        let first = Self(1970 * 12);
        time.get(..7)
            .and_then(|text| text.parse().ok())
            .unwrap_or(first)
    }

    /// Returns the month of a day in Lagos, in days since 1970.
    pub fn of_day(day: i64) -> Self {
        Self::of(day_begins_at(day))
    }

    /// Returns the start of the month, Unix milliseconds.
    pub fn begins_at_ms(self) -> i64 {
        parse_time(&format!("{self}-01 00:00:00")).unwrap_or_default()
    }

    /// Returns the month after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// Returns the last months up to that of a time, oldest first: at least one, and at most
    /// [`MAX_MONTHS`].
    pub fn last(count: u8, now_ms: i64) -> Vec<Self> {
        let count = i64::from(count.clamp(1, MAX_MONTHS));
        let Self(this) = Self::of(now_ms);
        (this - count + 1..=this).map(Self).collect()
    }
}

/// `2027-01`.
impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:04}-{:02}",
            self.0.div_euclid(12),
            self.0.rem_euclid(12) + 1
        )
    }
}

impl FromStr for Month {
    type Err = NotMonth;

    fn from_str(text: &str) -> Result<Self, NotMonth> {
        let (year, month) = text.split_once('-').ok_or(NotMonth)?;
        let number = |digits: &str, length: usize| -> Option<i64> {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits
                .parse()
                .ok()
                .filter(|_| is_number && digits.len() == length)
        };
        let year = number(year, 4).filter(|year| YEARS.contains(year));
        let month = number(month, 2).filter(|month| (1..=12).contains(month));
        match (year, month) {
            (Some(year), Some(month)) => Ok(Self(year * 12 + month - 1)),
            _ => Err(NotMonth),
        }
    }
}

/// The time that a report of whole months covers: from its begin to before its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Period {
    /// The begin, Unix milliseconds.
    pub from_ms: i64,
    /// The end, Unix milliseconds.
    pub until_ms: i64,
}

impl Period {
    /// Returns the period of months, oldest first. Without months it is empty.
    pub fn of(months: &[Month]) -> Self {
        let from_ms = months.first().map_or(0, |month| month.begins_at_ms());
        let until_ms = months.last().map_or(0, |month| month.next().begins_at_ms());
        Self { from_ms, until_ms }
    }

    /// Returns the starts of the days in Lagos that the period touches, and of the day after the
    /// last.
    pub fn days(self) -> impl Iterator<Item = i64> {
        (lagos_day(self.from_ms)..=lagos_day(self.until_ms)).map(day_begins_at)
    }
}

/// The money of one month, of an account or of all.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Revenue {
    /// Paid top-ups.
    pub top_ups: u64,
    /// The amounts of top-ups, without VAT and bonus.
    pub paid_in: Money,
    /// The VAT of top-ups.
    pub vat: Money,
    /// Credits of operators without debits, such as bank transfers.
    pub credited: Money,
    /// Bonuses of top-ups, and credits of operators to a bonus.
    pub bonus: Money,
    /// Charges of messages without their refunds.
    pub spent: Money,
    /// The part of `spent` that bonuses paid.
    pub from_bonus: Money,
    /// Margins that parents got, without those that refunds took back.
    pub margins: Money,
}

/// Returns `true` for a component that is given and not paid for.
const fn is_bonus(component: Component) -> bool {
    matches!(
        component,
        Component::PromoBonus | Component::VolumeBonus | Component::SmsBonus
    )
}

impl Revenue {
    /// Adds paid top-ups.
    pub fn add_top_ups(&mut self, count: u64, (amount, vat, bonus): (Money, Money, Money)) {
        self.top_ups += count;
        self.paid_in += amount;
        self.vat += vat;
        self.bonus += bonus;
    }

    /// Adds a credit of an operator, or a debit, which is negative.
    pub fn add_credit(&mut self, component: Component, amount: Money) {
        if is_bonus(component) {
            self.bonus += amount;
        } else {
            self.credited += amount;
        }
    }

    /// Adds an entry of a message: a charge, which is negative, or a refund.
    pub fn add_message(&mut self, component: Component, amount: Money) {
        let spent = Money::ZERO - amount;
        self.spent += spent;
        if is_bonus(component) {
            self.from_bonus += spent;
        }
    }

    /// Adds a margin, or one that was taken back, which is negative.
    pub fn add_margin(&mut self, amount: Money) {
        self.margins += amount;
    }

    /// Adds the money of another account.
    pub fn add(&mut self, other: &Self) {
        self.add_top_ups(other.top_ups, (other.paid_in, other.vat, other.bonus));
        self.credited += other.credited;
        self.spent += other.spent;
        self.from_bonus += other.from_bonus;
        self.margins += other.margins;
    }

    /// Returns the revenue: what was spent of paid credit, without the margins of parents.
    pub fn earned(&self) -> Money {
        self.spent - self.from_bonus - self.margins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naira(amount: i64) -> Money {
        Money::from_naira(amount)
    }

    #[test]
    fn a_month_begins_at_midnight_in_lagos() {
        let table = [
            ("2026-12", "2026-12-01 00:00:00", "2027-01"),
            ("2027-01", "2027-01-01 00:00:00", "2027-02"),
            ("2028-02", "2028-02-01 00:00:00", "2028-03"),
        ];
        for (text, begin, next) in table {
            let month: Month = text.parse().unwrap();
            let begins_ms = month.begins_at_ms();
            assert_eq!(lagos_time(begins_ms), begin);
            assert_eq!(
                (month.to_string(), month.next().to_string()),
                (text.to_owned(), next.to_owned())
            );
            assert_eq!(Month::of(begins_ms), month);
            assert_ne!(Month::of(begins_ms - 1), month);
            assert_eq!(Month::of_day(lagos_day(begins_ms)), month);
        }
        for text in [
            "",
            "2027",
            "2027-1",
            "2027-13",
            "2027-00",
            "27-01",
            "+027-01",
            "2027-01-01",
        ] {
            assert_eq!(text.parse::<Month>(), Err(NotMonth), "{text}");
        }
    }

    #[test]
    fn a_report_has_at_most_24_months_up_to_now() {
        let now_ms = parse_time("2027-02-28 23:59:59").unwrap();
        let texts = |count| -> Vec<String> {
            let months = Month::last(count, now_ms);
            months.iter().map(Month::to_string).collect()
        };
        assert_eq!(texts(3), ["2026-12", "2027-01", "2027-02"]);
        assert_eq!(texts(0), ["2027-02"]);
        assert_eq!(texts(u8::MAX).len(), usize::from(MAX_MONTHS));
    }

    #[test]
    fn the_days_of_a_period_cover_it() {
        let months = ["2027-02".parse().unwrap()];
        let period = Period::of(&months);
        let days: Vec<i64> = period.days().collect();
        assert_eq!(days.len(), 29);
        assert_eq!((days[0], days[28]), (period.from_ms, period.until_ms));
        assert_eq!(
            Period::of(&[]),
            Period {
                from_ms: 0,
                until_ms: 0
            }
        );
    }

    #[test]
    fn revenue_is_what_was_spent_of_paid_credit_without_margins() {
        let mut revenue = Revenue::default();
        revenue.add_top_ups(2, (naira(1_000), naira(75), naira(50)));
        revenue.add_credit(Component::SmsWallet, naira(300));
        revenue.add_credit(Component::SmsWallet, naira(-100));
        revenue.add_credit(Component::PromoBonus, naira(20));
        revenue.add_message(Component::UniversalWallet, naira(-60));
        revenue.add_message(Component::SmsBonus, naira(-40));
        revenue.add_message(Component::SmsBonus, naira(10));
        revenue.add_margin(naira(6));
        revenue.add_margin(naira(-1));
        let mut all = Revenue::default();
        all.add(&revenue);
        assert_eq!(all, revenue);
        let expected = Revenue {
            top_ups: 2,
            paid_in: naira(1_000),
            vat: naira(75),
            credited: naira(200),
            bonus: naira(70),
            spent: naira(90),
            from_bonus: naira(30),
            margins: naira(5),
        };
        assert_eq!(revenue, expected);
        assert_eq!(revenue.earned(), naira(55));
    }
}
