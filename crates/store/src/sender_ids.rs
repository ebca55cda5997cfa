//! Sender IDs registered on accounts.

use crate::Store;
use crate::accounts::touch;
use crate::db::{Change, Tx};
use crate::error::Result;
use crate::rows::named;
use crate::sql::{on, read};
use domain::{AccountId, SenderId, SenderStatus, sender};

#[derive(sqlx::FromRow)]
struct SenderRow {
    account_id: i64,
    name: String,
    status: String,
    purpose: String,
    international: bool,
    approved_at_ms: Option<i64>,
    rejection_reason: Option<String>,
}

impl SenderRow {
    fn sender(self) -> Result<(AccountId, SenderId)> {
        let status = named(SenderStatus::from_name, &self.status)?;
        let sender = SenderId {
            name: self.name,
            status,
            purpose: self.purpose,
            international: self.international,
            approved_at_ms: self.approved_at_ms,
            rejection_reason: self.rejection_reason,
        };
        Ok((AccountId(self.account_id), sender))
    }
}

struct AddSender {
    account: AccountId,
    sender: SenderId,
    now_ms: i64,
}

impl Change for AddSender {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let added = on!(tx, |connection| {
            sqlx::query(
            "insert into sender_ids (account_id, sender_key, name, status, purpose, international,
                 created_at_ms, approved_at_ms, rejection_reason)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing",
        )
        .bind(self.account.0)
        .bind(sender::key(&self.sender.name))
        .bind(&self.sender.name)
        .bind(self.sender.status.as_str())
        .bind(&self.sender.purpose)
        .bind(self.sender.international)
        .bind(self.now_ms)
        .bind(self.sender.approved_at_ms)
        .bind(&self.sender.rejection_reason)
        .execute(connection)
        .await?
        .rows_affected()
        });
        touch(tx).await?;
        Ok(added == 1)
    }
}

struct SetSenderStatus {
    account: AccountId,
    key: String,
    status: SenderStatus,
    reason: Option<String>,
    now_ms: i64,
}

impl Change for SetSenderStatus {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let approved_at_ms = (self.status == SenderStatus::Approved).then_some(self.now_ms);
        let changed = on!(tx, |connection| sqlx::query(
            "update sender_ids set status = $3, rejection_reason = $4,
                 approved_at_ms = coalesce($5, approved_at_ms)
             where account_id = $1 and sender_key = $2",
        )
        .bind(self.account.0)
        .bind(&self.key)
        .bind(self.status.as_str())
        .bind(&self.reason)
        .bind(approved_at_ms)
        .execute(connection)
        .await?
        .rows_affected());
        touch(tx).await?;
        Ok(changed == 1)
    }
}

impl Store {
    /// Keeps a new sender ID; `false` when the account has one that compares equal.
    pub async fn add_sender(
        &self,
        account: AccountId,
        sender: SenderId,
        now_ms: i64,
    ) -> Result<bool> {
        self.db
            .change(AddSender {
                account,
                sender,
                now_ms,
            })
            .await
    }

    /// Changes where a sender ID stands; `false` when the account has none of that name.
    pub async fn set_sender_status(
        &self,
        account: AccountId,
        name: &str,
        status: SenderStatus,
        reason: Option<&str>,
        now_ms: i64,
    ) -> Result<bool> {
        let (key, reason) = (sender::key(name), reason.map(str::to_owned));
        self.db
            .change(SetSenderStatus {
                account,
                key,
                status,
                reason,
                now_ms,
            })
            .await
    }

    /// All sender IDs, or those of one account, in the order of their registration.
    pub async fn senders(&self, account: Option<AccountId>) -> Result<Vec<(AccountId, SenderId)>> {
        let rows: Vec<SenderRow> = read!(self.db, |connection| {
            sqlx::query_as(
                "select * from sender_ids where account_id = $1 or $1 = -1
                 order by account_id, created_at_ms, sender_key",
            )
            .bind(account.map_or(-1, |account| account.0))
            .fetch_all(connection)
            .await?
        });
        rows.into_iter().map(SenderRow::sender).collect()
    }
}
