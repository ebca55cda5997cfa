//! Sender IDs registered on accounts.

mod request;
mod row;

pub use row::RegisteredSender;

use crate::accounts::revision::touch;
use crate::buckets::Buckets;
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::{AccountRowKey, page_of};
use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Result, Tx, query};
use domain::sender_request::SenderRequest;
use domain::{AccountId, Environment, SenderId, SenderStatus, redact, sender};
use request::RequestSender;
use row::SenderRow;
use serde_json::{Value, json};

const REGISTER: &str = "sender-id.register";

struct AddSender {
    account: AccountId,
    sender: SenderId,
    by: By,
}

impl Change for AddSender {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let added = tx
            .execute(
                query(
                    "insert into sender_ids (account_id, sender_key, name, status, purpose,
                 international, created_at_ms, approved_at_ms, rejection_reason)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing",
                )
                .bind(self.account.0)
                .bind(sender::key(&self.sender.name))
                .bind(&self.sender.name)
                .bind(self.sender.status.as_str())
                .bind(&self.sender.purpose)
                .bind(self.sender.international)
                .bind(self.by.at_ms)
                .bind(self.sender.approved_at_ms)
                .bind(&self.sender.rejection_reason),
            )
            .await?;
        if added == 0 {
            return Ok(false);
        }
        touch(tx).await?;
        let entry = Entry {
            by: &self.by,
            verb: REGISTER,
            account: Some(self.account),
            object: &self.sender.name,
            before: Value::Null,
            after: json!({
                "status": self.sender.status.as_str(),
                "international": self.sender.international,
            }),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, added: &bool) -> Result<bool> {
        Ok(!added || audit::is_kept(tx, &self.by, REGISTER, &self.sender.name).await?)
    }
}

struct SetSenderStatus {
    account: AccountId,
    key: String,
    status: SenderStatus,
    reason: Option<String>,
    by: By,
}

impl SetSenderStatus {
    fn verb(&self) -> &'static str {
        match self.status {
            SenderStatus::Pending => REGISTER,
            SenderStatus::Approved => "sender-id.approve",
            SenderStatus::Rejected => "sender-id.reject",
            SenderStatus::Suspended => "sender-id.suspend",
        }
    }
}

impl Change for SetSenderStatus {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let approved_at_ms = (self.status == SenderStatus::Approved).then_some(self.by.at_ms);
        // The row is locked before anything is read, so a concurrent change of the same account
        // waits.
        touch(tx).await?;
        let before: Option<(String, String)> = tx
            .fetch_optional(
                query(
                    "select name, status from sender_ids where account_id = $1
                         and sender_key = $2",
                )
                .bind(self.account.0)
                .bind(&self.key),
            )
            .await?;
        let Some((name, before)) = before else {
            return Ok(false);
        };
        tx.execute(
            query(
                "update sender_ids set status = $3, rejection_reason = $4,
                 approved_at_ms = coalesce($5, approved_at_ms)
             where account_id = $1 and sender_key = $2",
            )
            .bind(self.account.0)
            .bind(&self.key)
            .bind(self.status.as_str())
            .bind(&self.reason)
            .bind(approved_at_ms),
        )
        .await?;
        let entry = Entry {
            by: &self.by,
            verb: self.verb(),
            account: Some(self.account),
            object: &name,
            before: json!({ "status": before }),
            after: json!({
                "status": self.status.as_str(),
                "reason": self.reason.as_deref().map(redact),
            }),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }
}

/// The sender IDs of accounts.
#[derive(Clone, Copy)]
pub struct Senders<'s> {
    pub(crate) db: &'s Db,
}

impl Senders<'_> {
    /// Adds a sender ID. It returns `false` if the account has one that compares equal.
    pub async fn add(self, account: AccountId, sender: SenderId, by: By) -> Result<bool> {
        let add = AddSender {
            account,
            sender,
            by,
        };
        self.db.change(add).await
    }

    /// Registers the sender ID that a customer requests, or returns it as it stands. The sandbox
    /// registers nothing.
    pub async fn request(
        self,
        (account, environment): (AccountId, Environment),
        request: SenderRequest,
        keyed: Option<KeyedChange<SenderId>>,
        by: By,
    ) -> Result<Outcome<SenderId>> {
        let now_ms = by.at_ms;
        let change = RequestSender {
            account,
            is_simulated: environment == Environment::Sandbox,
            request,
            by,
        };
        let once = ChangeOnce {
            buckets: Buckets::of(self.db),
            account,
            environment,
            keyed,
            change,
            now_ms,
        };
        self.db.change(once).await
    }

    /// Changes the status of a sender ID. It returns `false` if the account has none of that name.
    pub async fn set_status(
        self,
        account: AccountId,
        name: &str,
        status: SenderStatus,
        reason: Option<&str>,
        by: By,
    ) -> Result<bool> {
        let (key, reason) = (sender::key(name), reason.map(str::to_owned));
        self.db
            .change(SetSenderStatus {
                account,
                key,
                status,
                reason,
                by,
            })
            .await
    }

    /// Returns all sender IDs of an account.
    pub async fn of(self, account: AccountId) -> Result<Vec<SenderId>> {
        let rows: Vec<SenderRow> = self
            .db
            .fetch_all(query("select * from sender_ids where account_id = $1").bind(account.0))
            .await?;
        rows.into_iter()
            .map(|row| Ok(row.registered()?.sender))
            .collect()
    }

    /// Returns the sender ID of an account that compares equal to this name.
    pub async fn find(self, account: AccountId, name: &str) -> Result<Option<RegisteredSender>> {
        let row: Option<SenderRow> = self
            .db
            .fetch_optional(
                query("select * from sender_ids where account_id = $1 and sender_key = $2")
                    .bind(account.0)
                    .bind(sender::key(name)),
            )
            .await?;
        row.map(SenderRow::registered).transpose()
    }

    /// Returns some sender IDs of all accounts that wait for approval, the oldest first.
    pub async fn pending(self, limit: u32) -> Result<Vec<RegisteredSender>> {
        // The time makes the index of the pending ones a search and no scan.
        let rows: Vec<SenderRow> = self
            .db
            .fetch_all(
                query(
                    "select * from sender_ids where status = 'pending' and created_at_ms > 0
                     order by created_at_ms, account_id, sender_key limit $1",
                )
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(SenderRow::registered).collect()
    }

    /// Returns some sender IDs behind one, of all accounts or of one. The newest account comes
    /// first, and for each account the sender ID that was registered last.
    pub async fn list(
        self,
        account: Option<AccountId>,
        behind: Option<AccountRowKey>,
        limit: u32,
    ) -> Result<Vec<RegisteredSender>> {
        let (lowest, behind) = page_of(account, behind);
        let rows: Vec<SenderRow> = self
            .db
            .fetch_all(
                query(
                    "select * from sender_ids
                 where account_id >= $1 and (account_id, created_at_ms, sender_key) < ($2,
                     $3, $4)
                 order by account_id desc, created_at_ms desc, sender_key desc limit $5",
                )
                .bind(lowest.0)
                .bind(behind.0)
                .bind(behind.1)
                .bind(&behind.2)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(SenderRow::registered).collect()
    }
}
