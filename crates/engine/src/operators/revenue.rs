//! Revenue by month, added up from top-ups and the ledger.

use super::actor::Actor;
use super::error::Result;
use crate::queries::wallet::MAX_AGE_MS;
use domain::revenue::{Month, Period, Revenue};
use domain::{AccountId, Money};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use store::{EntryKind, LedgerSum, MoneySums, Store};

/// Maximum number of accounts that a month names, those with the highest revenue.
const MAX_ACCOUNTS: usize = 50;
/// Accounts whose revenue is in memory at once. Each takes about 100 octets a month.
const BOOKED_ACCOUNTS: u32 = 20_000;
/// The time by which the id of a message may be ahead of its entries.
const CLOCK_MARGIN_MS: i64 = 86_400_000;

/// Revenue: add up by month.
pub struct Revenues {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

/// The revenue of a month.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MonthRevenue {
    /// The month.
    pub month: Month,
    /// The revenue of all accounts.
    pub total: Revenue,
    /// The accounts with the highest revenue.
    pub accounts: Vec<(AccountId, Revenue)>,
}

/// The progress of the addition, which another task may read.
#[derive(Debug, Default)]
pub struct SumProgress {
    done: AtomicUsize,
    all: AtomicUsize,
}

impl SumProgress {
    /// Returns the number of days that were read, and of all. Before the first, all is 0.
    pub fn read(&self) -> (usize, usize) {
        (self.done.load(Relaxed), self.all.load(Relaxed))
    }
}

/// The revenue of each account in each month.
type Books = BTreeMap<(Month, AccountId), Revenue>;

impl Revenues {
    /// Adds up the revenue of the last months, oldest first. The ledger is read in days, so that no
    /// statement takes long, and the service may run meanwhile. Many accounts are read in several
    /// ranges, one after the other, so that memory has a bound.
    pub async fn count(self, months: u8, progress: &SumProgress) -> Result<Vec<MonthRevenue>> {
        let now_ms = self.actor.clock().now_ms();
        let months = Month::last(months, now_ms);
        let (sums, period) = (self.store.wallets().sums(), Period::of(&months));
        let oldest_ms = sums.begins_at_ms().await?.unwrap_or(period.until_ms);
        // An entry lies at its message, which may be much older.
        let made = Period {
            from_ms: (period.from_ms - MAX_AGE_MS).max(oldest_ms - CLOCK_MARGIN_MS),
            until_ms: period.until_ms + CLOCK_MARGIN_MS,
        };
        let days: Vec<i64> = made.days().collect();
        let ranges = sums.account_ranges(BOOKED_ACCOUNTS).await?;
        let all = days.len().saturating_sub(1) * ranges.len();
        progress.all.store(all, Relaxed);
        let mut open: Vec<OpenMonth> = months.iter().copied().map(OpenMonth::new).collect();
        let reading = Reading {
            sums,
            months: &months,
            days: &days,
            progress,
        };
        for accounts in &ranges {
            let books = reading.books(accounts).await?;
            for ((month, account), revenue) in &books {
                let of_month = open.iter_mut().find(|one| one.month == *month);
                if let Some(of_month) = of_month {
                    of_month.add(*account, revenue);
                }
            }
        }
        Ok(open.into_iter().map(OpenMonth::close).collect())
    }
}

/// The sums, and what is read of them.
struct Reading<'a> {
    sums: MoneySums<'a>,
    months: &'a [Month],
    days: &'a [i64],
    progress: &'a SumProgress,
}

impl Reading<'_> {
    /// Reads the revenue of some accounts.
    async fn books(&self, accounts: &RangeInclusive<AccountId>) -> Result<Books> {
        let (sums, period) = (self.sums, Period::of(self.months));
        let mut books = Books::new();
        for month in self.months {
            for sum in sums.top_ups(Period::of(&[*month]), accounts).await? {
                let revenue = books.entry((*month, sum.account)).or_default();
                revenue.add_top_ups(sum.count, (sum.amount, sum.vat, sum.bonus));
            }
        }
        for day in self.days.windows(2) {
            let made = Period {
                from_ms: day[0],
                until_ms: day[1],
            };
            for part in 0..sums.parts() {
                for sum in sums.ledger(part, made, period, accounts).await? {
                    add(&mut books, &sum);
                }
            }
            self.progress.done.fetch_add(1, Relaxed);
        }
        Ok(books)
    }
}

fn add(books: &mut Books, sum: &LedgerSum) {
    let month = Month::of_day(sum.day);
    let revenue = books.entry((month, sum.account)).or_default();
    match sum.kind {
        EntryKind::Charge | EntryKind::Refund | EntryKind::UnusedLeg => {
            revenue.add_message(sum.component, sum.amount);
        }
        EntryKind::Margin => revenue.add_margin(sum.amount),
        // Top-ups were added with their VAT.
        EntryKind::Credit if sum.is_top_up => {}
        EntryKind::Credit => revenue.add_credit(sum.component, sum.amount),
        EntryKind::Transfer => {}
    }
}

/// A month while accounts are added to it.
struct OpenMonth {
    month: Month,
    total: Revenue,
    /// The accounts with the highest revenue so far, the highest first.
    highest: BTreeMap<(Reverse<Money>, AccountId), Revenue>,
}

impl OpenMonth {
    fn new(month: Month) -> Self {
        Self {
            month,
            total: Revenue::default(),
            highest: BTreeMap::new(),
        }
    }

    /// Adds the whole revenue of an account.
    fn add(&mut self, account: AccountId, revenue: &Revenue) {
        self.total.add(revenue);
        let key = (Reverse(revenue.earned()), account);
        self.highest.insert(key, *revenue);
        if self.highest.len() > MAX_ACCOUNTS {
            self.highest.pop_last();
        }
    }

    fn close(self) -> MonthRevenue {
        let highest = self.highest.into_iter();
        MonthRevenue {
            month: self.month,
            total: self.total,
            accounts: highest
                .map(|((_, account), revenue)| (account, revenue))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Component;

    #[test]
    fn a_month_names_the_accounts_with_the_highest_revenue() {
        let month: Month = "2027-01".parse().unwrap();
        let mut books = Books::new();
        for id in 0..60 {
            let sum = LedgerSum {
                account: AccountId(id),
                day: domain::lagos_day(month.begins_at_ms()),
                kind: EntryKind::Charge,
                component: Component::SmsWallet,
                amount: Money::from_naira(-id),
                is_top_up: false,
            };
            add(&mut books, &sum);
            let next = LedgerSum {
                day: sum.day + 31,
                ..sum
            };
            add(&mut books, &next);
        }
        let mut open = OpenMonth::new(month);
        for ((of, account), revenue) in &books {
            if *of == month {
                open.add(*account, revenue);
            }
        }
        let closed = open.close();
        assert_eq!(closed.total.earned(), Money::from_naira(59 * 60 / 2));
        let ids: Vec<i64> = closed.accounts.iter().map(|(id, _)| id.0).collect();
        assert_eq!(ids, (10..60).rev().collect::<Vec<i64>>());
    }
}
