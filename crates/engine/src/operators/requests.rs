//! The operations on the log of refused requests.

use super::accounts::{account, scope_of};
use super::error::Result;
use super::page::{Page, PageRequest};
use domain::AccountId;
use domain::search::List;
use store::{RefusedRequest, Store};

/// Refused requests of the API: list, show.
pub struct Requests {
    pub(super) store: Store,
}

impl Requests {
    /// Returns a page of the refused requests of an account, newest first.
    pub async fn list(self, id: AccountId, request: &PageRequest) -> Result<Page<RefusedRequest>> {
        account(&self.store, id).await?;
        let scope = scope_of(Some(id));
        let behind = request.behind(List::RefusedRequests, &scope)?;
        let log = self.store.refused_requests();
        let rows = log.list(id, behind, request.rows()).await?;
        Ok(request.page(List::RefusedRequests, &scope, rows))
    }

    /// Returns a refused request of an account, or `None` if it has none at this time.
    pub async fn show(
        self,
        id: AccountId,
        at_ms: i64,
        request_id: &str,
    ) -> Result<Option<RefusedRequest>> {
        let log = self.store.refused_requests();
        Ok(log.find(id, at_ms, request_id).await?)
    }
}
