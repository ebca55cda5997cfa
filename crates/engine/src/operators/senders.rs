//! The commands about sender IDs.

use super::accounts::account;
use super::actor::Operator;
use super::error::{AdminError, Result, checked};
use domain::{AccountId, SenderId, SenderStatus, sender};
use store::Store;

/// Registers a sender ID; it waits for approval.
pub async fn register_sender(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    name: &str,
    purpose: &str,
    international: bool,
) -> Result<SenderId> {
    account(store, id).await?;
    sender::check_registration(name)?;
    let sender = SenderId {
        name: name.to_owned(),
        status: SenderStatus::Pending,
        purpose: checked("the purpose", purpose)?,
        international,
        approved_at_ms: None,
        rejection_reason: None,
    };
    let added = store.add_sender(id, sender.clone(), operator.now()).await?;
    added
        .then_some(sender)
        .ok_or_else(|| AdminError::SenderExists(name.to_owned()))
}

/// Approves, rejects or suspends a sender ID; a rejection has a reason.
pub async fn set_sender_status(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    name: &str,
    status: SenderStatus,
    reason: Option<&str>,
) -> Result<()> {
    account(store, id).await?;
    let reason = reason
        .map(|reason| checked("the reason", reason))
        .transpose()?;
    let changed = store
        .set_sender_status(id, name, status, reason.as_deref(), operator.now())
        .await?;
    changed
        .then_some(())
        .ok_or_else(|| AdminError::NoSender(name.to_owned()))
}

/// All sender IDs, or those of one account.
pub async fn list_senders(
    store: &Store,
    account: Option<AccountId>,
) -> Result<Vec<(AccountId, SenderId)>> {
    Ok(store.senders(account).await?)
}
