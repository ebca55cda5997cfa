//! Sub-accounts as they are stored, and the changes that their parent requests.

use super::account_changes::{AccountChange, CreateAccount, SetAccount};
use super::revision::touch;
use super::token_changes::AddToken;
use crate::lists::ListRow;
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use crate::wallets;
use database::{Change, Query, Result, Tx, query};
use domain::resale::{MAX_SUB_ACCOUNTS, ResalePrices, SubAccountChange};
use domain::{
    Account, AccountId, AccountStatus, Bucket, Money, ObjectRefusal, Queued, Refusal, Verification,
};
use serde_json::{Value, json};

/// A sub-account, with the settings of its parent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SubAccount {
    /// The account.
    pub account: Account,
    /// The account that it belongs to.
    pub parent: AccountId,
    /// The prices that the parent set.
    pub prices: ResalePrices,
    /// Its daily limit.
    pub per_day: Option<Money>,
    /// Its balance.
    pub balance: Money,
}

impl ListRow for SubAccount {
    type Key = i64;

    fn key(&self) -> i64 {
        self.account.id.0
    }
}

pub(super) struct SubAccountRow {
    account_id: i64,
    email: String,
    name: String,
    status: String,
    verification: String,
    created_at_ms: i64,
    parent_id: i64,
    prices: String,
    limit_per_day: Option<i64>,
    balance: i64,
}

database::from_row!(SubAccountRow {
    account_id,
    email,
    name,
    status,
    verification,
    created_at_ms,
    parent_id,
    prices,
    limit_per_day,
    balance
});

impl SubAccountRow {
    pub(super) fn account(self) -> Result<SubAccount> {
        Ok(SubAccount {
            account: Account {
                id: AccountId(self.account_id),
                email: self.email,
                name: self.name,
                status: named(AccountStatus::from_name, &self.status)?,
                verification: named(Verification::from_name, &self.verification)?,
                created_at_ms: self.created_at_ms,
            },
            parent: AccountId(self.parent_id),
            prices: named(|text| text.parse().ok(), &self.prices)?,
            per_day: self.limit_per_day.map(Money::from_units),
            balance: Money::from_units(self.balance),
        })
    }
}

/// Returns the query for some sub-accounts of an account behind one, newest first.
pub(super) fn query_of(
    bucket: Bucket,
    parent: AccountId,
    behind: Option<i64>,
    limit: u32,
) -> Query<'static> {
    query(
        "select a.*, s.parent_id, s.prices, w.limit_per_day,
             w.promo_bonus + w.volume_bonus + w.sms_bonus + w.sms_wallet
                 + w.main_balance + w.universal_wallet as balance
         from sub_accounts s
         join accounts a on a.account_id = s.account_id
         join wallets w on w.bucket = $1 and w.account_id = s.account_id
         where s.parent_id = $2 and s.account_id < $3
         order by s.account_id desc limit $4",
    )
    .bind(bucket.0)
    .bind(parent.0)
    .bind(behind.unwrap_or(i64::MAX))
    .bind(i64::from(limit))
}

/// Returns `true` if an account is a sub-account of this parent. It stays so for ever.
pub(super) async fn is_known(tx: &mut Tx, parent: AccountId, account: AccountId) -> Result<bool> {
    let found: Option<i64> = tx
        .fetch_optional(
            query("select account_id from sub_accounts where account_id = $1 and parent_id = $2")
                .bind(account.0)
                .bind(parent.0),
        )
        .await?;
    Ok(found.is_some())
}

type Made<T> = std::result::Result<T, Refusal>;

fn refused<T>(refusal: ObjectRefusal) -> Made<T> {
    Err(Refusal::Object(refusal))
}

/// The creation of a sub-account with its first token.
pub(super) struct RequestSubAccount {
    pub(super) create: CreateAccount,
    pub(super) parent: AccountId,
    pub(super) token: AddToken,
}

impl RequestSubAccount {
    /// Returns the entry that names the parent. The account and its token have entries of their own.
    fn entry(&self) -> Entry<'_> {
        Entry {
            by: &self.create.by,
            verb: "sub-account.create",
            account: Some(self.create.account.id),
            object: "",
            before: Value::Null,
            after: json!({ "parent": self.parent.to_string() }),
        }
    }
}

impl Change for RequestSubAccount {
    type Output = Made<SubAccount>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let owner = (self.create.bucket, self.parent);
        // Two requests of a parent wait for each other, so that the number of its sub-accounts is
        // exact.
        wallets::lock(tx, &[owner]).await?;
        let is_sub: Option<i64> = tx
            .fetch_optional(
                query("select parent_id from sub_accounts where account_id = $1")
                    .bind(self.parent.0),
            )
            .await?;
        if is_sub.is_some() {
            return Ok(refused(ObjectRefusal::IsSubAccount));
        }
        let others: i64 = tx
            .fetch_one(
                query("select count(*) from sub_accounts where parent_id = $1").bind(self.parent.0),
            )
            .await?;
        if usize::try_from(others).is_ok_and(|others| others >= MAX_SUB_ACCOUNTS) {
            let limit = MAX_SUB_ACCOUNTS;
            return Ok(refused(ObjectRefusal::SubAccountsUsed { limit }));
        }
        wallets::let_sell(tx, owner).await?;
        self.create.apply(tx).await?;
        let account = &self.create.account;
        tx.execute(
            query("insert into sub_accounts (account_id, parent_id) values ($1, $2)")
                .bind(account.id.0)
                .bind(self.parent.0),
        )
        .await?;
        self.token.apply(tx).await?;
        audit::enter(tx, self.entry()).await?;
        Ok(Ok(SubAccount {
            account: account.clone(),
            parent: self.parent,
            prices: ResalePrices::default(),
            per_day: None,
            balance: Money::ZERO,
        }))
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.create.is_committed(tx, &()).await,
            Err(_) => Ok(true),
        }
    }
}

const SET_PRICES: &str = "sub-account.change";

/// A change of a sub-account by its parent.
pub(super) struct ChangeSubAccount {
    pub(super) bucket: Bucket,
    pub(super) parent: AccountId,
    pub(super) account: AccountId,
    pub(super) change: SubAccountChange,
    pub(super) by: By,
}

impl ChangeSubAccount {
    async fn set_prices(&self, tx: &mut Tx, before: ResalePrices) -> Result<()> {
        let after = self.change.applied(before.clone());
        tx.execute(
            query("update sub_accounts set prices = $2 where account_id = $1")
                .bind(self.account.0)
                .bind(after.to_string()),
        )
        .await?;
        let entry = Entry {
            by: &self.by,
            verb: SET_PRICES,
            account: Some(self.account),
            object: "",
            before: json!({ "prices": before.to_string() }),
            after: json!({ "prices": after.to_string() }),
        };
        audit::enter(tx, entry).await
    }
}

impl Change for ChangeSubAccount {
    type Output = Made<SubAccount>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        // A foreign wallet is not locked, and the revision does not rise for nothing.
        if !is_known(tx, self.parent, self.account).await? {
            return Ok(refused(ObjectRefusal::UnknownSubAccount));
        }
        let owner = (self.bucket, self.account);
        // All changes lock wallets before the revision.
        wallets::lock(tx, &[owner]).await?;
        touch(tx).await?;
        let (status, prices, is_stopped): (String, String, bool) = tx
            .fetch_one(
                query(
                    "select a.status, s.prices, s.stopped from sub_accounts s
                     join accounts a on a.account_id = s.account_id where s.account_id = $1",
                )
                .bind(self.account.0),
            )
            .await?;
        let status = named(AccountStatus::from_name, &status)?;
        if let Some(new) = self.change.status {
            let is_ours = matches!(status, AccountStatus::Active | AccountStatus::Disabled);
            if is_stopped || !is_ours {
                return Ok(refused(ObjectRefusal::SubAccountStopped));
            }
            let set = SetAccount {
                account: self.account,
                change: AccountChange::Status(new, Queued::Hold),
                by: self.by.clone(),
            };
            set.set(tx).await?;
        }
        if let Some(per_day) = self.change.daily_limit {
            wallets::set_limit(tx, owner, per_day, &self.by).await?;
        }
        if !self.change.prices.is_empty() {
            let prices = named(|text| text.parse().ok(), &prices)?;
            self.set_prices(tx, prices).await?;
        }
        let changed = query_of(self.bucket, self.parent, self.account.0.checked_add(1), 1);
        let changed: SubAccountRow = tx.fetch_one(changed).await?;
        Ok(Ok(changed.account()?))
    }

    // A change that is made twice has the same result.
}

/// Returns the account of a request for a sub-account.
pub(super) fn new_account(
    id: AccountId,
    (name, email): (String, String),
    created_at_ms: i64,
) -> Account {
    Account {
        id,
        email,
        name,
        status: AccountStatus::Active,
        verification: Verification::Unverified,
        created_at_ms,
    }
}
