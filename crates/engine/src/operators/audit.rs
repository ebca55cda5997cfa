//! The command that lists the audit.

use super::accounts::{account, scope_of};
use super::error::Result;
use super::page::{Page, PageRequest};
use domain::AccountId;
use domain::search::List;
use store::{AuditEntry, Store};

/// The audit: list.
pub struct Audit {
    pub(super) store: Store,
}

impl Audit {
    /// Returns a page of the audit, or of its entries about one account, the latest first.
    pub async fn list(
        self,
        id: Option<AccountId>,
        request: &PageRequest,
    ) -> Result<Page<AuditEntry>> {
        if let Some(id) = id {
            account(&self.store, id).await?;
        }
        let scope = scope_of(id);
        let behind = request.behind(List::Audit, &scope)?;
        let rows = self.store.audit().list(id, behind, request.rows()).await?;
        Ok(request.page(List::Audit, &scope, rows))
    }
}
