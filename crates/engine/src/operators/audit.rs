//! The command that lists the audit.

use super::accounts::account;
use super::error::Result;
use domain::AccountId;
use store::{AuditEntry, Store};

/// The audit: list.
pub struct Audit {
    pub(super) store: Store,
}

impl Audit {
    /// The latest entries of the audit, or those about one account, the latest first.
    pub async fn list(self, id: Option<AccountId>, limit: u32) -> Result<Vec<AuditEntry>> {
        if let Some(id) = id {
            account(&self.store, id).await?;
        }
        Ok(self.store.audit(id, limit).await?)
    }
}
