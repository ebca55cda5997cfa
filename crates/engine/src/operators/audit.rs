//! The operation on the audit list.

use super::accounts::{account, scope_of};
use super::error::Result;
use super::page::{Page, PageRequest};
use domain::AccountId;
use domain::search::List;
use store::{AuditEntry, Store};

/// The audit list: list.
pub struct Audit {
    pub(super) store: Store,
}

impl Audit {
    /// Returns a page of the audit list, newest first, of all accounts or of one.
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
