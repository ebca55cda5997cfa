//! Accounts.

pub(crate) mod holds;
pub(crate) mod paused_blocks;
pub(crate) mod rates;
pub(crate) mod refused_requests;
pub(crate) mod revision;
pub(crate) mod senders;
pub(crate) mod smpp_users;
pub(crate) mod token_changes;
mod token_requests;
pub(crate) mod tokens;

use crate::accounts::revision::touch;
use crate::buckets::Buckets;
use crate::lists::ListRow;
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use crate::wallets;
use database::{Change, Db, Result, Tx, query};
use domain::{Account, AccountId, AccountStatus, Queued, Verification, redact};
use serde_json::{Value, json};
use std::collections::HashMap;

struct AccountRow {
    account_id: i64,
    email: String,
    name: String,
    status: String,
    verification: String,
    created_at_ms: i64,
}

database::from_row!(AccountRow {
    account_id,
    email,
    name,
    status,
    verification,
    created_at_ms
});

impl AccountRow {
    fn account(self) -> Result<Account> {
        Ok(Account {
            id: AccountId(self.account_id),
            email: self.email,
            name: self.name,
            status: named(AccountStatus::from_name, &self.status)?,
            verification: named(Verification::from_name, &self.verification)?,
            created_at_ms: self.created_at_ms,
        })
    }
}

impl ListRow for Account {
    type Key = i64;

    fn key(&self) -> i64 {
        self.id.0
    }
}

struct CreateAccount {
    account: Account,
    bucket: domain::Bucket,
    by: By,
}

impl Change for CreateAccount {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let account = &self.account;
        tx.execute(
            query(
                "insert into accounts (account_id, email, name, status, verification,
             created_at_ms)
             values ($1, $2, $3, $4, $5, $6)",
            )
            .bind(account.id.0)
            .bind(&account.email)
            .bind(&account.name)
            .bind(account.status.as_str())
            .bind(account.verification.as_str())
            .bind(account.created_at_ms),
        )
        .await?;
        wallets::create(tx, self.bucket, account.id).await?;
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: "account.create",
            account: Some(account.id),
            object: "",
            before: Value::Null,
            after: json!({
                "name": redact(&account.name),
                "status": account.status.as_str(),
                "verification": account.verification.as_str(),
            }),
        };
        audit::enter(tx, entry).await
    }

    async fn is_committed(&self, tx: &mut Tx, (): &()) -> Result<bool> {
        let found: Option<i64> = tx
            .fetch_optional(
                query("select account_id from accounts where account_id = $1")
                    .bind(self.account.id.0),
            )
            .await?;
        Ok(found.is_some())
    }
}

const SET_STATUS: &str = "account.set-status";

const SET_VERIFICATION: &str = "account.set-verification";

/// The field of an account that a change sets.
enum AccountChange {
    /// The status, and the fate of the queued messages.
    Status(AccountStatus, Queued),
    Verification(Verification),
}

struct SetAccount {
    account: AccountId,
    change: AccountChange,
    by: By,
}

impl Change for SetAccount {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let (read, write, verb, column, word) = match self.change {
            AccountChange::Status(status, _) => (
                "select status from accounts where account_id = $1",
                "update accounts set status = $2 where account_id = $1",
                SET_STATUS,
                "status",
                status.as_str(),
            ),
            AccountChange::Verification(verification) => (
                "select verification from accounts where account_id = $1",
                "update accounts set verification = $2 where account_id = $1",
                SET_VERIFICATION,
                "verification",
                verification.as_str(),
            ),
        };
        // The row is locked before anything is read, so a concurrent change of the same account
        // waits.
        touch(tx).await?;
        let before: Option<String> = tx.fetch_optional(query(read).bind(self.account.0)).await?;
        let Some(before) = before else {
            return Ok(false);
        };
        tx.execute(query(write).bind(self.account.0).bind(word))
            .await?;
        let (mut before, mut after) = (json!({ column: before }), json!({ column: word }));
        if let AccountChange::Status(status, queued) = self.change {
            before["queued"] = holds::of(tx, self.account).await?.as_str().into();
            // An account that may send has no hold.
            let may_not = status.refusal().is_some();
            let queued = if may_not { queued } else { Queued::Send };
            after["queued"] = queued.as_str().into();
            holds::set(tx, self.account, status, queued).await?;
        }
        let entry = Entry {
            by: &self.by,
            verb,
            account: Some(self.account),
            object: "",
            before,
            after,
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, found: &bool) -> Result<bool> {
        let verb = match self.change {
            AccountChange::Status(..) => SET_STATUS,
            AccountChange::Verification(_) => SET_VERIFICATION,
        };
        Ok(!found || audit::is_kept(tx, &self.by, verb, "").await?)
    }
}

/// The accounts.
#[derive(Clone, Copy)]
pub struct Accounts<'s> {
    pub(crate) db: &'s Db,
}

impl Accounts<'_> {
    /// Creates an account with an empty wallet.
    pub async fn create(self, account: Account, by: By) -> Result<()> {
        let bucket = Buckets::of(self.db).account(account.id);
        let create = CreateAccount {
            account,
            bucket,
            by,
        };
        self.db.change(create).await
    }

    /// Returns the account with this number.
    pub async fn find(self, id: AccountId) -> Result<Option<Account>> {
        let row: Option<AccountRow> = self
            .db
            .fetch_optional(query("select * from accounts where account_id = $1").bind(id.0))
            .await?;
        row.map(AccountRow::account).transpose()
    }

    /// Returns some accounts behind one, newest first.
    pub async fn list(self, behind: Option<i64>, limit: u32) -> Result<Vec<Account>> {
        let rows: Vec<AccountRow> = self
            .db
            .fetch_all(
                query(
                    "select * from accounts where account_id < $1
                 order by account_id desc limit $2",
                )
                .bind(behind.unwrap_or(i64::MAX))
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(AccountRow::account).collect()
    }

    /// Changes the status of an account, and the fate of its queued messages if it may not send.
    /// From now on its batches are not claimed, or are claimed again. It returns `false` if the
    /// account does not exist. [`settle_queued`](crate::HeldBatches::settle_queued) moves or
    /// cancels the queued batches.
    pub async fn set_status(
        self,
        account: AccountId,
        status: AccountStatus,
        queued: Queued,
        by: By,
    ) -> Result<bool> {
        self.db
            .change(SetAccount {
                account,
                change: AccountChange::Status(status, queued),
                by,
            })
            .await
    }

    /// Changes the verification level of an account. It returns `false` if the account does not
    /// exist.
    pub async fn set_verification(
        self,
        account: AccountId,
        verification: Verification,
        by: By,
    ) -> Result<bool> {
        self.db
            .change(SetAccount {
                account,
                change: AccountChange::Verification(verification),
                by,
            })
            .await
    }

    /// Returns the accounts whose queued messages are not sent, each with their fate.
    pub async fn holds(self) -> Result<HashMap<AccountId, Queued>> {
        holds::all(self.db).await
    }
}
