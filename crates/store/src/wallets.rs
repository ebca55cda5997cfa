//! Wallets and the ledger. A balance changes only with a ledger entry, in one transaction.

mod balances;
mod credit;
mod ledger;
mod limit;
mod revenue;
mod statement;

pub(crate) use balances::{Movement, Owner, Wallet, add, create, let_sell, lock};
pub use credit::Credited;
pub use ledger::{EntryKind, LedgerEntry, LedgerKey};
pub(crate) use ledger::{MARGINS, enter, refunded};
pub(crate) use limit::set_limit;
pub use revenue::{LedgerSum, MoneySums, TopUpSum};

use crate::buckets::Buckets;
use crate::operators::audit::By;
use credit::CreditWallet;
use database::{Db, Result};
use domain::{AccountId, Money, Purse, Spending};
use ledger::LedgerRow;
use limit::SetLimit;

/// The wallets of accounts, and their ledger.
#[derive(Clone, Copy)]
pub struct Wallets<'s> {
    pub(crate) db: &'s Db,
}

impl<'s> Wallets<'s> {
    /// Returns the sums of money for reports of the operator.
    pub fn sums(self) -> MoneySums<'s> {
        MoneySums { db: self.db }
    }

    /// Returns the balances of a wallet.
    pub async fn find(self, account: AccountId) -> Result<Option<Purse>> {
        Ok(balances::read(self.db, account)
            .await?
            .map(|row| row.purse()))
    }

    /// Returns the balances of a wallet, and its daily limit with the spending of the last day.
    pub async fn state(self, account: AccountId) -> Result<Option<(Purse, Spending)>> {
        let row = balances::read(self.db, account).await?;
        Ok(row.map(|row| (row.purse(), row.spending())))
    }

    /// Returns some ledger entries of an account behind one. The entries of the newest message or
    /// credit come first, and a refund stands with the charge of its message.
    pub async fn statement(
        self,
        account: AccountId,
        behind: Option<LedgerKey>,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>> {
        let bucket = Buckets::of(self.db).account(account);
        let statement = statement::entries(bucket, account, behind, limit);
        let rows: Vec<LedgerRow> = self.db.fetch_all(statement).await?;
        rows.into_iter().map(LedgerRow::entry).collect()
    }

    /// Returns entries as [`statement`](Self::statement), with the balances after the first of
    /// them. `balances` are those of the entry before, if they are known. Otherwise they are
    /// computed from the wallet and all newer entries.
    pub async fn statement_with_balances(
        self,
        account: AccountId,
        behind: Option<LedgerKey>,
        limit: u32,
        balances: Option<Purse>,
    ) -> Result<(Vec<LedgerEntry>, Purse)> {
        if let Some(balances) = balances {
            return Ok((self.statement(account, behind, limit).await?, balances));
        }
        statement::with_balances(self.db, account, behind, limit).await
    }

    /// Adds credit from outside. A reference credits once for each account.
    pub async fn credit(self, entry: LedgerEntry, by: By) -> Result<Credited> {
        let bucket = Buckets::of(self.db).account(entry.account);
        let credit = CreditWallet {
            bucket,
            entry,
            by,
            reason: None,
        };
        self.db.change(credit).await
    }

    /// Takes back credit, never more than the component holds. The entry has a negative amount. Its
    /// reference counts once, and no credit of the account may have used it.
    pub async fn debit(self, entry: LedgerEntry, reason: String, by: By) -> Result<Credited> {
        let bucket = Buckets::of(self.db).account(entry.account);
        let debit = CreditWallet {
            bucket,
            entry,
            by,
            reason: Some(reason),
        };
        self.db.change(debit).await
    }

    /// Sets or removes the daily limit of an account. It returns `false` if the account does not
    /// exist.
    pub async fn set_daily_limit(
        self,
        account: AccountId,
        per_day: Option<Money>,
        by: By,
    ) -> Result<bool> {
        let set = SetLimit {
            bucket: Buckets::of(self.db).account(account),
            account,
            per_day,
            by,
        };
        self.db.change(set).await
    }

    /// Returns the daily limit of an account, and its spending on the last day.
    pub async fn spending(self, account: AccountId) -> Result<Option<Spending>> {
        let row = balances::read(self.db, account).await?;
        Ok(row.map(|row| row.spending()))
    }
}
