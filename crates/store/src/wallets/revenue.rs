//! Sums of the ledger and of top-ups by account and day, for reports of the operator.

use super::ledger::EntryKind;
use crate::buckets::Buckets;
use crate::rows::named;
use database::{Db, Result, Sql, query};
use domain::revenue::Period;
use domain::{AccountId, Component, MessageId, Money};
use std::ops::RangeInclusive;

/// The sum of the entries of an account on a day in Lagos, of one kind and component.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LedgerSum {
    /// The account.
    pub account: AccountId,
    /// The day, in days since 1970.
    pub day: i64,
    /// The kind.
    pub kind: EntryKind,
    /// The component.
    pub component: Component,
    /// The sum.
    pub amount: Money,
    /// `true` for the credits of top-ups.
    pub is_top_up: bool,
}

/// The paid top-ups of an account on a day in Lagos.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TopUpSum {
    /// The account.
    pub account: AccountId,
    /// The day, in days since 1970.
    pub day: i64,
    /// Their number.
    pub count: u64,
    /// The amounts without VAT and bonus.
    pub amount: Money,
    /// The VAT.
    pub vat: Money,
    /// The bonuses.
    pub bonus: Money,
}

/// Sums of money, read in parts so that no statement takes long.
#[derive(Clone, Copy)]
pub struct MoneySums<'s> {
    pub(crate) db: &'s Db,
}

impl MoneySums<'_> {
    /// Returns the number of parts of the ledger, each of which is read alone.
    pub fn parts(self) -> i64 {
        Buckets::of(self.db).count()
    }

    /// Returns the time of the oldest account, Unix milliseconds. No money has moved before.
    pub async fn begins_at_ms(self) -> Result<Option<i64>> {
        // The numbers of accounts rise with their age.
        let oldest = query(
            "select created_at_ms from accounts where account_id > $1 order by account_id limit 1",
        );
        self.db.fetch_optional(oldest.bind(0_i64)).await
    }

    /// Returns ranges that hold all accounts, each with at most so many of those of now. A later
    /// account is in the last range.
    pub async fn account_ranges(self, size: u32) -> Result<Vec<RangeInclusive<AccountId>>> {
        let (mut ranges, mut first) = (Vec::new(), AccountId(i64::MIN));
        loop {
            let next = query(
                "select account_id from accounts where account_id >= $1
                 order by account_id limit 1 offset $2",
            );
            let next = next.bind(first.0).bind(i64::from(size.max(1)));
            let next: Option<i64> = self.db.fetch_optional(next).await?;
            let last = next.map_or(i64::MAX, |next| next - 1);
            ranges.push(first..=AccountId(last));
            match next {
                Some(next) => first = AccountId(next),
                None => return Ok(ranges),
            }
        }
    }

    /// Returns the sums of a part of the ledger, of the entries of some accounts in a period. Only
    /// messages and credits of the time `made` are read.
    pub async fn ledger(
        self,
        part: i64,
        made: Period,
        period: Period,
        accounts: &RangeInclusive<AccountId>,
    ) -> Result<Vec<LedgerSum>> {
        let ids = [made.from_ms, made.until_ms].map(MessageId::lowest_at);
        let sums = query(LEDGER)
            .bind(part)
            .bind(&ids[0].0.as_bytes()[..])
            .bind(&ids[1].0.as_bytes()[..])
            .bind(period.from_ms)
            .bind(period.until_ms)
            .bind(accounts.start().0)
            .bind(accounts.end().0);
        let rows: Vec<LedgerSumRow> = self.db.fetch_all(sums).await?;
        rows.into_iter().map(LedgerSumRow::read).collect()
    }

    /// Returns the sums of the live top-ups of some accounts that were paid in a period.
    pub async fn top_ups(
        self,
        period: Period,
        accounts: &RangeInclusive<AccountId>,
    ) -> Result<Vec<TopUpSum>> {
        let sums = query(
            "select account_id, (paid_at_ms + 3600000) / 86400000 as day, count(*),
                 cast(sum(amount) as bigint), cast(sum(vat) as bigint), cast(sum(bonus) as bigint)
             from top_ups where sandbox = $1 and paid_at_ms >= $2 and paid_at_ms < $3
                 and account_id >= $4 and account_id <= $5
             group by 1, 2",
        );
        let sums = sums.bind(false).bind(period.from_ms).bind(period.until_ms);
        let sums = sums.bind(accounts.start().0).bind(accounts.end().0);
        let rows: Vec<(i64, i64, i64, i64, i64, i64)> = self.db.fetch_all(sums).await?;
        let sum = |(account, day, count, amount, vat, bonus)| TopUpSum {
            account: AccountId(account),
            day,
            count: u64::try_from(count).unwrap_or_default(),
            amount: Money::from_units(amount),
            vat: Money::from_units(vat),
            bonus: Money::from_units(bonus),
        };
        Ok(rows.into_iter().map(sum).collect())
    }
}

/// The statement of [`MoneySums::ledger`]. Each database reads a range of its own key: PostgreSQL one
/// for each account.
const LEDGER: Sql = Sql {
    sqlite: "select account_id, kind, component, (created_at_ms + 3600000) / 86400000 as day,
             case when kind = 'credit' then exists (
                 select 1 from top_ups t where t.top_up_id = ledger.subject
             ) else false end as is_top_up,
             cast(sum(amount) as bigint) as amount
         from ledger where bucket = $1 and subject >= $2 and subject < $3
             and created_at_ms >= $4 and created_at_ms < $5 and kind <> 'transfer'
             and account_id >= $6 and account_id <= $7
         group by 1, 2, 3, 4, 5",
    postgres: "select l.account_id, l.kind, l.component, l.day, l.is_top_up, l.amount
         from wallets w cross join lateral (
             select account_id, kind, component, (created_at_ms + 3600000) / 86400000 as day,
                 case when kind = 'credit' then exists (
                     select 1 from top_ups t where t.top_up_id = ledger.subject
                 ) else false end as is_top_up,
                 cast(sum(amount) as bigint) as amount
             from ledger where bucket = w.bucket and account_id = w.account_id
                 and subject >= $2 and subject < $3
                 and created_at_ms >= $4 and created_at_ms < $5 and kind <> 'transfer'
             group by 1, 2, 3, 4, 5
         ) l where w.bucket = $1 and w.account_id >= $6 and w.account_id <= $7",
};

struct LedgerSumRow {
    account_id: i64,
    kind: String,
    component: String,
    day: i64,
    is_top_up: bool,
    amount: i64,
}

database::from_row!(LedgerSumRow {
    account_id,
    kind,
    component,
    day,
    is_top_up,
    amount
});

impl LedgerSumRow {
    fn read(self) -> Result<LedgerSum> {
        Ok(LedgerSum {
            account: AccountId(self.account_id),
            day: self.day,
            kind: named(EntryKind::from_name, &self.kind)?,
            component: named(Component::from_name, &self.component)?,
            amount: Money::from_units(self.amount),
            is_top_up: self.is_top_up,
        })
    }
}
