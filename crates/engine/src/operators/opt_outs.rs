//! The operations on opt-outs.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{OperationError, Result};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::opt_out::{MAX_OPT_OUTS, OptOut, OptOutFields, OptOutRequest, parse_recipient};
use domain::search::List;
use domain::{AccountId, MessageId};
use store::{Outcome, Store};

/// Opt-outs: add, list, remove.
pub struct OptOuts {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl OptOuts {
    /// Adds an opt-out. A number that opted out before keeps its opt-out. The account has at most
    /// [`MAX_OPT_OUTS`], but for those of subscribers themselves.
    pub async fn add(self, id: AccountId, fields: &OptOutFields) -> Result<OptOut> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let request = OptOutRequest::read(fields)?;
        let opt_out = OptOut {
            id: MessageId::new(by.at_ms, Random::system().bytes()),
            account: id,
            recipient: request.recipient,
            sender: request.sender,
            reason: request.reason,
            created_at_ms: by.at_ms,
        };
        let added = self
            .store
            .opt_outs()
            .add(id, (vec![opt_out], Some(MAX_OPT_OUTS)), None, by);
        match added.await? {
            Outcome::Made(added) => Ok(added.first),
            Outcome::Refused(refusal) => Err(refusal.into()),
            // A change without a key has no stored answer.
            Outcome::Replay(_) => Err(OperationError::NoOptOut),
        }
    }

    /// Removes all opt-outs of a number. Returns how many there were.
    pub async fn remove(self, id: AccountId, recipient: &str) -> Result<u64> {
        account(&self.store, id).await?;
        let recipient = parse_recipient(recipient).ok_or(OperationError::NoOptOut)?;
        let opt_outs = self.store.opt_outs();
        let removed = opt_outs.remove(id, recipient, None, self.actor.now());
        match removed.await? {
            Outcome::Made(count) => Ok(count),
            Outcome::Refused(_) | Outcome::Replay(_) => Err(OperationError::NoOptOut),
        }
    }

    /// Returns a page of the opt-outs of an account, newest first.
    pub async fn list(self, id: AccountId, request: &PageRequest) -> Result<Page<OptOut>> {
        account(&self.store, id).await?;
        let scope = scope_of(Some(id));
        let behind: Option<String> = request.behind(List::OperatorOptOuts, &scope)?;
        let behind = behind.and_then(|id| id.parse().ok());
        let opt_outs = self.store.opt_outs();
        let rows = opt_outs.list(id, behind, request.rows()).await?;
        Ok(request.page(List::OperatorOptOuts, &scope, rows))
    }
}
