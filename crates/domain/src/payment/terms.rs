//! The terms of the operator for top-ups, and the price of one.

use super::percent::{Percent, UNITS_PER_KOBO};
use crate::money::Money;
use crate::wallet::Component;

/// The largest amount of a top-up.
pub const MAX_TOP_UP: Money = Money::from_naira(1_000_000_000);

/// Maximum number of unpaid top-ups of an account.
pub const MAX_OPEN_TOP_UPS: usize = 100;

/// A bonus on top-ups from an amount.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bonus {
    /// The lowest amount with this bonus.
    pub from: Money,
    /// The share of the amount that is given.
    pub percent: Percent,
}

/// The terms of top-ups.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Terms {
    /// The VAT on top of the amount.
    pub vat: Percent,
    /// The lowest amount.
    pub minimum: Money,
    /// The component that gets the amount.
    pub component: Component,
    /// The bonuses. The one with the highest reached amount counts.
    pub bonuses: Vec<Bonus>,
    /// The time after which a top-up expires, milliseconds.
    pub expires_ms: i64,
}

/// The price of a top-up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Priced {
    /// The amount that is credited.
    pub amount: Money,
    /// The VAT.
    pub vat: Money,
    /// The rate of the VAT.
    pub vat_rate: Percent,
    /// The bonus, which `sms_bonus` gets.
    pub bonus: Money,
    /// The component that gets the amount.
    pub component: Component,
}

/// The reason why an amount cannot be paid in.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AmountFault {
    /// The amount has a part of a kobo.
    #[error("an amount has at most two decimals")]
    PartOfKobo,
    /// The amount is too low.
    #[error("a top-up is at least {0}")]
    TooLow(Money),
    /// The amount is too high.
    #[error("a top-up is at most {MAX_TOP_UP}")]
    TooHigh,
}

/// Returns `true` if an amount has no part of a kobo.
pub const fn is_in_kobo(amount: Money) -> bool {
    amount.units() % UNITS_PER_KOBO == 0
}

impl Terms {
    /// Returns the price of a top-up.
    pub fn price(&self, amount: Money) -> Result<Priced, AmountFault> {
        if !is_in_kobo(amount) {
            return Err(AmountFault::PartOfKobo);
        }
        if amount < self.minimum || !amount.is_positive() {
            return Err(AmountFault::TooLow(self.minimum));
        }
        if amount > MAX_TOP_UP {
            return Err(AmountFault::TooHigh);
        }
        let reached = self.bonuses.iter().filter(|bonus| bonus.from <= amount);
        let best = reached.max_by_key(|bonus| bonus.from);
        Ok(Priced {
            amount,
            vat: self.vat.of(amount),
            vat_rate: self.vat,
            bonus: best.map_or(Money::ZERO, |bonus| bonus.percent.of(amount)),
            component: self.component,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        let bonus = |from, percent: &str| Bonus {
            from: Money::from_naira(from),
            percent: percent.parse().unwrap(),
        };
        Terms {
            vat: "7.5".parse().unwrap(),
            minimum: Money::from_naira(500),
            component: Component::UniversalWallet,
            bonuses: vec![bonus(100_000, "5"), bonus(10_000, "2.5")],
            expires_ms: 86_400_000,
        }
    }

    #[test]
    fn vat_comes_on_top_and_the_highest_bonus_counts() {
        let table = [
            ("500.00", "37.50", "0.00"),
            ("9999.99", "750.00", "0.00"),
            ("10000.00", "750.00", "250.00"),
            ("99999.99", "7500.00", "2500.00"),
            ("100000.00", "7500.00", "5000.00"),
        ];
        for (amount, vat, bonus) in table {
            let priced = terms().price(amount.parse().unwrap()).unwrap();
            assert_eq!(priced.amount.to_string(), amount);
            assert_eq!(
                (priced.vat.to_string(), priced.bonus.to_string()),
                (vat.to_owned(), bonus.to_owned()),
                "{amount}"
            );
        }
    }

    #[test]
    fn an_amount_beyond_the_terms_is_refused() {
        let minimum = Money::from_naira(500);
        let table = [
            ("500.001", AmountFault::PartOfKobo),
            ("499.99", AmountFault::TooLow(minimum)),
            ("-500.00", AmountFault::TooLow(minimum)),
            ("1000000000.01", AmountFault::TooHigh),
        ];
        for (amount, fault) in table {
            assert_eq!(
                terms().price(amount.parse().unwrap()),
                Err(fault),
                "{amount}"
            );
        }
        let free = Terms {
            minimum: Money::ZERO,
            ..terms()
        };
        let none = AmountFault::TooLow(Money::ZERO);
        assert_eq!(free.price(Money::ZERO), Err(none));
    }
}
