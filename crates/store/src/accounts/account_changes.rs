//! Accounts as they are stored, and their changes.

use super::holds;
use super::revision::touch;
use crate::lists::ListRow;
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use crate::wallets;
use database::{Change, Result, Tx, query};
use domain::{Account, AccountId, AccountStatus, Queued, Verification, redact};
use serde_json::{Value, json};

pub(super) struct AccountRow {
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
    pub(super) fn account(self) -> Result<Account> {
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

pub(super) struct CreateAccount {
    pub(super) account: Account,
    pub(super) bucket: domain::Bucket,
    pub(super) by: By,
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
pub(super) enum AccountChange {
    /// The status, and the fate of the queued messages.
    Status(AccountStatus, Queued),
    Verification(Verification),
}

pub(super) struct SetAccount {
    pub(super) account: AccountId,
    pub(super) change: AccountChange,
    pub(super) by: By,
}

impl SetAccount {
    /// Notes that an operator stopped a sub-account, so that its parent cannot undo it.
    async fn note_stop(&self, tx: &mut Tx) -> Result<()> {
        if let AccountChange::Status(status, _) = self.change {
            let is_stopped = status != AccountStatus::Active;
            let note = query("update sub_accounts set stopped = $2 where account_id = $1");
            tx.execute(note.bind(self.account.0).bind(is_stopped))
                .await?;
        }
        Ok(())
    }

    /// Makes the change after [`touch`].
    pub(super) async fn set(&self, tx: &mut Tx) -> Result<bool> {
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
}

impl Change for SetAccount {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        // The row is locked before anything is read, so a concurrent change of the same account
        // waits.
        touch(tx).await?;
        self.note_stop(tx).await?;
        self.set(tx).await
    }

    async fn is_committed(&self, tx: &mut Tx, found: &bool) -> Result<bool> {
        let verb = match self.change {
            AccountChange::Status(..) => SET_STATUS,
            AccountChange::Verification(_) => SET_VERIFICATION,
        };
        Ok(!found || audit::is_kept(tx, &self.by, verb, "").await?)
    }
}
