//! Accounts.

mod account_changes;
pub(crate) mod holds;
pub(crate) mod paused_blocks;
pub(crate) mod rates;
pub(crate) mod refused_requests;
pub(crate) mod revision;
pub(crate) mod senders;
mod smpp_binds;
mod smpp_user_changes;
mod smpp_user_requests;
pub(crate) mod smpp_users;
pub(crate) mod sub_account_changes;
pub(crate) mod sub_accounts;
pub(crate) mod token_changes;
mod token_requests;
pub(crate) mod tokens;
pub(crate) mod transfers;

use crate::buckets::Buckets;
use crate::operators::audit::By;
use account_changes::{AccountChange, AccountRow, CreateAccount, SetAccount};
use database::{Db, Result, query};
use domain::{Account, AccountId, AccountStatus, Queued, Verification};
use std::collections::HashMap;

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
