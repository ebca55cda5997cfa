//! The operations on sender IDs.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use super::page::{Page, PageRequest};
use domain::search::List;
use domain::sender_request::{SenderFields, SenderRequest};
use domain::{AccountId, Environment, SenderId, SenderStatus, sender};
use store::{Outcome, RegisteredSender, Store};

/// Maximum number of sender IDs of the approval queue that are shown.
const QUEUE_ROWS: u32 = 100;

/// Sender IDs: register, list, change their status.
pub struct Senders {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Senders {
    /// Registers a sender ID. It is pending until it is approved.
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
            .senders()
            .add(id, sender.clone(), self.actor.now())
            .await?;
        added
            .then_some(sender)
            .ok_or_else(|| OperationError::SenderExists(name.to_owned()))
    }

    /// Registers the sender ID that a user of the account requests, as the API does.
    pub async fn request(self, id: AccountId, fields: &SenderFields) -> Result<SenderId> {
        let request = SenderRequest::read(fields)?;
        let place = (id, Environment::Live);
        let senders = self.store.senders();
        match senders
            .request(place, request, None, self.actor.now())
            .await?
        {
            Outcome::Made(sender) => Ok(sender),
            Outcome::Refused(refusal) => Err(refusal.into()),
            // A request without a key has no stored answer.
            Outcome::Replay(_) => Err(OperationError::SenderExists(
                fields.sender_id.clone().unwrap_or_default(),
            )),
        }
    }

    /// Approves, rejects or suspends a sender ID. A rejection needs a reason.
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
            .senders()
            .set_status(id, name, status, reason.as_deref(), self.actor.now())
            .await?;
        changed
            .then_some(())
            .ok_or_else(|| OperationError::NoSender(name.to_owned()))
    }

    /// Returns the sender IDs that wait for approval, the oldest first, at most 100.
    pub async fn queue(self) -> Result<Vec<RegisteredSender>> {
        Ok(self.store.senders().pending(QUEUE_ROWS).await?)
    }

    /// Returns one sender ID of an account.
    pub async fn show(self, id: AccountId, name: &str) -> Result<RegisteredSender> {
        let found = self.store.senders().find(id, name).await?;
        found.ok_or_else(|| OperationError::NoSender(name.to_owned()))
    }

    /// Returns a page of the sender IDs of all accounts or of one, by account and newest first.
    pub async fn list(
        self,
        account: Option<AccountId>,
        request: &PageRequest,
    ) -> Result<Page<RegisteredSender>> {
        let scope = scope_of(account);
        let behind = request.behind(List::RegisteredSenders, &scope)?;
        let rows = self
            .store
            .senders()
            .list(account, behind, request.rows())
            .await?;
        Ok(request.page(List::RegisteredSenders, &scope, rows))
    }
}
