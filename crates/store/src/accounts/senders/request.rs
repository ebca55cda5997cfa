//! The request of a customer for a sender ID.

use super::row::SenderRow;
use crate::accounts::revision::touch;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Result, Tx, query};
use domain::sender;
use domain::sender_request::{SenderDecision, SenderRequest};
use domain::{AccountId, Refusal, SenderId};
use serde_json::{Value, json};

const VERB: &str = "sender-id.request";

pub(super) struct RequestSender {
    pub(super) account: AccountId,
    /// `true` in the sandbox, where nothing is registered.
    pub(super) is_simulated: bool,
    pub(super) request: SenderRequest,
    pub(super) by: By,
}

impl RequestSender {
    async fn decide(&self, tx: &mut Tx) -> Result<std::result::Result<SenderDecision, Refusal>> {
        let rows: Vec<SenderRow> = tx
            .fetch_all(query("select * from sender_ids where account_id = $1").bind(self.account.0))
            .await?;
        let senders: Result<Vec<SenderId>> = rows
            .into_iter()
            .map(|row| Ok(row.registered()?.sender))
            .collect();
        Ok(self.request.decide(&senders?))
    }

    async fn add(&self, tx: &mut Tx, sender: &SenderId) -> Result<()> {
        let insert = query(
            "insert into sender_ids (account_id, sender_key, name, status, purpose, international,
                 created_at_ms)
             values ($1, $2, $3, $4, $5, $6, $7)",
        );
        let insert = insert
            .bind(self.account.0)
            .bind(sender::key(&sender.name))
            .bind(&sender.name)
            .bind(sender.status.as_str())
            .bind(&sender.purpose)
            .bind(sender.international)
            .bind(self.by.at_ms);
        tx.execute(insert).await?;
        self.enter(tx, sender, Value::Null).await
    }

    async fn reopen(&self, tx: &mut Tx, sender: &SenderId) -> Result<()> {
        let update = query(
            "update sender_ids set status = $3, purpose = $4, rejection_reason = null
             where account_id = $1 and sender_key = $2",
        );
        let update = update
            .bind(self.account.0)
            .bind(sender::key(&sender.name))
            .bind(sender.status.as_str())
            .bind(&sender.purpose);
        tx.execute(update).await?;
        self.enter(tx, sender, json!({ "status": "rejected" }))
            .await
    }

    async fn enter(&self, tx: &mut Tx, sender: &SenderId, before: Value) -> Result<()> {
        let entry = Entry {
            by: &self.by,
            verb: VERB,
            account: Some(self.account),
            object: &sender.name,
            before,
            after: json!({ "status": sender.status.as_str() }),
        };
        audit::enter(tx, entry).await
    }
}

impl Change for RequestSender {
    type Output = std::result::Result<SenderId, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let decided = self.decide(tx).await?;
        let changes = matches!(
            decided,
            Ok(SenderDecision::Add(_) | SenderDecision::Reopen(_))
        );
        if self.is_simulated || !changes {
            return Ok(decided.map(SenderDecision::sender));
        }
        // The revision is the lock of every change of a sender ID, so the decision is repeated
        // under it.
        touch(tx).await?;
        let decided = self.decide(tx).await?;
        match &decided {
            Ok(SenderDecision::Add(sender)) => self.add(tx, sender).await?,
            Ok(SenderDecision::Reopen(sender)) => self.reopen(tx, sender).await?,
            Ok(SenderDecision::Keep(_)) | Err(_) => {}
        }
        Ok(decided.map(SenderDecision::sender))
    }

    /// A sender ID that stays as it is has no entry, and is decided again.
    async fn is_committed(&self, tx: &mut Tx, sender: &Self::Output) -> Result<bool> {
        match sender {
            Ok(sender) => audit::is_kept(tx, &self.by, VERB, &sender.name).await,
            Err(_) => Ok(true),
        }
    }
}
