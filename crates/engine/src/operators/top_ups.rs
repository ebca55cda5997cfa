//! The operations on top-ups: list, number and decisions of mismatches.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::Result;
use super::page::{Page, PageRequest};
use crate::context::metrics::payments as measures;
use domain::payment::{Acceptance, TopUp, TopUpId, TopUpState};
use domain::search::List;
use domain::{AccountId, Environment};
use store::Store;

/// Top-ups: list, accept, reject.
pub struct TopUps {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl TopUps {
    /// Returns a page of live top-ups, newest first: of an account or of all accounts, or those of
    /// all accounts in a state.
    pub async fn list(
        self,
        id: Option<AccountId>,
        state: Option<TopUpState>,
        request: &PageRequest,
    ) -> Result<Page<TopUp>> {
        if let Some(id) = id {
            account(&self.store, id).await?;
        }
        let state_name = state.map_or("any", TopUpState::as_str);
        let scope = format!("{} {state_name}", scope_of(id));
        let behind: Option<String> = request.behind(List::OperatorTopUps, &scope)?;
        let behind = behind.and_then(|id| id.parse().ok());
        let (top_ups, limit) = (self.store.top_ups(), request.rows());
        let rows = match id {
            Some(id) => top_ups.list(id, Environment::Live, behind, limit).await?,
            None => top_ups.list_all(state, behind, limit).await?,
        };
        Ok(request.page(List::OperatorTopUps, &scope, rows))
    }

    /// Returns the number of live mismatches, each of which waits for a decision.
    pub async fn mismatches(self) -> Result<u64> {
        let top_ups = self.store.top_ups();
        Ok(top_ups.count_all(TopUpState::Mismatch).await?)
    }

    /// Credits a mismatch.
    pub async fn accept(self, id: TopUpId, acceptance: Acceptance) -> Result<TopUp> {
        let by = self.actor.now();
        let accepted = self.store.top_ups().accept(id, acceptance, by).await??;
        measures::top_up(&accepted.provider, accepted.state);
        Ok(accepted)
    }

    /// Rejects a mismatch. It can still be accepted later.
    pub async fn reject(self, id: TopUpId) -> Result<TopUp> {
        let by = self.actor.now();
        let rejected = self.store.top_ups().reject(id, by).await??;
        measures::top_up(&rejected.provider, rejected.state);
        Ok(rejected)
    }
}
