//! The command that lists the audit.

use super::accounts::account;
use super::error::Result;
use domain::AccountId;
use store::{AuditEntry, Store};

/// The latest entries of the audit, or those about one account, the latest first.
pub async fn audit(store: &Store, id: Option<AccountId>, limit: u32) -> Result<Vec<AuditEntry>> {
    if let Some(id) = id {
        account(store, id).await?;
    }
    Ok(store.audit(id, limit).await?)
}
