//! The commands about sender IDs.

use super::accounts::account;
use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use domain::{AccountId, SenderId, SenderStatus, sender};
use store::Store;

/// Sender IDs: register, list, change their status.
pub struct Senders {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Senders {
    /// Registers a sender ID; it waits for approval.
    pub async fn register(
        self,
        id: AccountId,
        name: &str,
        purpose: &str,
        international: bool,
    ) -> Result<SenderId> {
        account(&self.store, id).await?;
        sender::check_registration(name)?;
        let sender = SenderId {
            name: name.to_owned(),
            status: SenderStatus::Pending,
            purpose: checked("the purpose", purpose)?,
            international,
            approved_at_ms: None,
            rejection_reason: None,
        };
        let added = self
            .store
            .add_sender(id, sender.clone(), self.actor.now())
            .await?;
        added
            .then_some(sender)
            .ok_or_else(|| OperationError::SenderExists(name.to_owned()))
    }

    /// Approves, rejects or suspends a sender ID; a rejection has a reason.
    pub async fn set_status(
        self,
        id: AccountId,
        name: &str,
        status: SenderStatus,
        reason: Option<&str>,
    ) -> Result<()> {
        account(&self.store, id).await?;
        let reason = reason
            .map(|reason| checked("the reason", reason))
            .transpose()?;
        let changed = self
            .store
            .set_sender_status(id, name, status, reason.as_deref(), self.actor.now())
            .await?;
        changed
            .then_some(())
            .ok_or_else(|| OperationError::NoSender(name.to_owned()))
    }

    /// All sender IDs, or those of one account.
    pub async fn list(self, account: Option<AccountId>) -> Result<Vec<(AccountId, SenderId)>> {
        Ok(self.store.senders(account).await?)
    }
}
