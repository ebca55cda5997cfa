//! The daily limit of an account.

use crate::gateway::LAGOS_OFFSET_MS;
use crate::money::Money;
use crate::refusal::Refusal;
use crate::refusal::seconds;

const DAY_MS: i64 = 86_400_000;

/// The charges of an account on a calendar day in Lagos, and their limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spending {
    /// The limit, or `None`.
    pub per_day: Option<Money>,
    /// The day of the last charge, in days since 1970.
    pub day: i64,
    /// The charges of that day. Refunds are not subtracted, so a full day stays full.
    pub spent: Money,
}

impl Spending {
    /// Returns the charges of the day at `now_ms`.
    pub fn spent_by(&self, now_ms: i64) -> Money {
        if lagos_day(now_ms) > self.day {
            Money::ZERO
        } else {
            self.spent
        }
    }

    /// Returns `true` if the stored day is after tomorrow, so that a clock must have been wrong.
    /// Clocks of nodes differ by less than a day.
    pub fn is_ahead_of(&self, now_ms: i64) -> bool {
        self.day > lagos_day(now_ms) + 1
    }

    /// Counts a charge, or refuses it. A new day is never left again, since the clocks of nodes
    /// differ around midnight.
    pub fn spend(&mut self, cost: Money, now_ms: i64) -> Result<(), Refusal> {
        let spent = self.spent_by(now_ms);
        if let Some(limit) = self.per_day
            && cost > limit - spent
        {
            return Err(Refusal::DailyLimit {
                limit,
                left: (limit - spent).max(Money::ZERO),
                needed: cost,
                retry_after_s: until_tomorrow_s(now_ms),
            });
        }
        self.day = lagos_day(now_ms).max(self.day);
        self.spent = spent + cost;
        Ok(())
    }
}

/// Returns the day in Lagos, in days since 1970.
pub fn lagos_day(at_ms: i64) -> i64 {
    (at_ms + LAGOS_OFFSET_MS).div_euclid(DAY_MS)
}

/// Returns the begin of a day in Lagos, Unix milliseconds.
pub fn day_begins_at(day: i64) -> i64 {
    day * DAY_MS - LAGOS_OFFSET_MS
}

fn until_tomorrow_s(now_ms: i64) -> u64 {
    let left_ms = day_begins_at(lagos_day(now_ms) + 1) - now_ms;
    seconds(left_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 20_000;

    /// Returns a time `ms` after the begin of a day.
    fn at(day: i64, ms: i64) -> i64 {
        day * DAY_MS - LAGOS_OFFSET_MS + ms
    }

    #[test]
    fn a_day_begins_at_midnight_in_lagos_and_ends_at_its_limit() {
        let mut spending = Spending {
            per_day: Some(Money::from_naira(10)),
            day: 0,
            spent: Money::ZERO,
        };
        let last = DAY_MS - 1;
        // Columns: time, cost, rest at a refusal, and the sum afterwards.
        for (now_ms, cost, left, spent) in [
            (at(DAY, 0), 4, None, 4),
            (at(DAY, 5), 6, None, 10),
            (at(DAY, last), 1, Some(0), 10),
            (at(DAY, last), 0, None, 10),
            (at(DAY + 1, 0), 11, Some(10), 0),
            (at(DAY + 1, 0), 7, None, 7),
            // The clock of another node is slightly behind.
            (at(DAY, last), 4, Some(3), 7),
            (at(DAY, last), 3, None, 10),
            (at(DAY + 3, 0), 10, None, 10),
        ] {
            let left_or_refusal = spending.spend(Money::from_naira(cost), now_ms);
            let left_or_refusal = left_or_refusal.err().map(|refusal| match refusal {
                Refusal::DailyLimit { left, .. } => left,
                other => panic!("{other}"),
            });
            assert_eq!(
                left_or_refusal,
                left.map(Money::from_naira),
                "{now_ms} {cost}"
            );
            assert_eq!(spending.spent_by(now_ms), Money::from_naira(spent));
        }
    }

    #[test]
    fn charges_are_counted_without_a_limit_too() {
        let mut spending = Spending {
            per_day: None,
            day: DAY - 1,
            spent: Money::from_naira(9),
        };
        for _ in 0..2 {
            spending
                .spend(Money::from_naira(1_000_000), at(DAY, 0))
                .unwrap();
        }
        assert_eq!(spending.spent_by(at(DAY, 1)), Money::from_naira(2_000_000));
    }

    #[test]
    fn a_day_is_ahead_if_it_is_further_than_tomorrow() {
        for (day, is_ahead) in [
            (DAY - 1, false),
            (DAY, false),
            (DAY + 1, false),
            (DAY + 2, true),
        ] {
            let spending = Spending {
                per_day: None,
                day,
                spent: Money::ZERO,
            };
            assert_eq!(spending.is_ahead_of(at(DAY, DAY_MS - 1)), is_ahead, "{day}");
        }
    }

    #[test]
    fn a_refusal_has_the_end_of_the_day() {
        let mut spending = Spending {
            per_day: Some(Money::from_naira(5)),
            day: DAY,
            spent: Money::from_naira(9),
        };
        let refusal = spending.spend(Money::from_naira(1), at(DAY, DAY_MS - 1_500));
        insta::assert_snapshot!(refusal.unwrap_err(), @"The daily limit of this account is 5.00 NGN: 0.00 NGN are left for today, and 1.00 NGN are needed. Nothing was sent or charged; the limit begins anew at midnight (Africa/Lagos), in 2 s.");
    }
}
