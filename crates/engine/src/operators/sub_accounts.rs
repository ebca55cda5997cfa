//! The operations on sub-accounts.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{OperationError, Result};
use super::page::{Page, PageRequest};
use crate::background::held_accounts::settle_queued;
use crate::context::random::Random;
use crate::error::within;
use crate::queries::resale::{self, ResaleUsage};
use crate::queries::scope::Scope;
use domain::resale::{
    PagePrice, SubAccountChange, SubAccountChangeFields, SubAccountFields, SubAccountRequest,
    TransferFields, TransferRequest, highest_price,
};
use domain::search::List;
use domain::token::{self, TokenTerms};
use domain::{AccountId, Environment, MessageId, ObjectRefusal, Refusal, Rulebook};
use store::{Outcome, Store, SubAccount, TokenInfo, Transfer};

/// The name of the first token of a sub-account.
const FIRST_TOKEN: &str = "first token";

/// Sub-accounts: create, list, show, change, transfer.
pub struct SubAccounts {
    pub(super) store: Store,
    pub(super) actor: Actor,
    /// The rules of the configuration, for prices.
    pub(super) rules: Rulebook,
}

impl SubAccounts {
    /// Creates a sub-account with an empty wallet and a token. The text of the token is returned only
    /// here.
    pub async fn create(
        &self,
        parent: AccountId,
        fields: &SubAccountFields,
    ) -> Result<(SubAccount, String)> {
        account(&self.store, parent).await?;
        let request = SubAccountRequest::read(fields)?;
        let (by, random) = (self.actor.now(), Random::system());
        let text = token::make(&random.bytes()).ok_or(OperationError::NoRandomBytes)?;
        let token = TokenInfo {
            id: format!("tok_{:016x}", random.number()),
            account: AccountId::of_sub(parent, by.at_ms, random.small()),
            name: FIRST_TOKEN.to_owned(),
            terms: TokenTerms::default(),
            created_at_ms: by.at_ms,
            revoked_at_ms: None,
        };
        let token = (token, token::hash(&text));
        let accounts = self.store.sub_accounts();
        let made = accounts.request((parent, request), token, None, by);
        Ok((outcome(made.await?, parent)?, text))
    }

    /// Returns a page of the sub-accounts of an account, newest first.
    pub async fn list(&self, parent: AccountId, request: &PageRequest) -> Result<Page<SubAccount>> {
        account(&self.store, parent).await?;
        let scope = scope_of(Some(parent));
        let behind = request.behind(List::OperatorSubAccounts, &scope)?;
        let accounts = self.store.sub_accounts();
        let rows = accounts.list(parent, behind, request.rows()).await?;
        Ok(request.page(List::OperatorSubAccounts, &scope, rows))
    }

    /// Returns the parent of an account, if it is a sub-account.
    pub async fn parent(&self, id: AccountId) -> Result<Option<AccountId>> {
        let terms = self.store.sub_accounts().terms(id).await?;
        Ok(terms.map(|terms| terms.parent))
    }

    /// Returns a sub-account of an account.
    pub async fn show(&self, parent: AccountId, id: AccountId) -> Result<SubAccount> {
        let found = self.store.sub_accounts().find(parent, id).await?;
        found.ok_or(OperationError::NoSubAccount(id))
    }

    /// Returns the prices of a sub-account beside those of its parent, by gateway.
    pub fn prices(&self, sub: &SubAccount) -> Vec<PagePrice> {
        PagePrice::all(&self.rules, sub.parent, &sub.prices)
    }

    /// Returns the live usage of a sub-account since a time within the limits of an overview, by
    /// gateway, and the margin of its parent.
    pub async fn usage(&self, sub: &SubAccount, since_ms: i64) -> Result<ResaleUsage> {
        let scope = Scope {
            store: &self.store,
            account: Some(sub.account.id),
            environment: Environment::Live,
            now_ms: self.actor.clock().now_ms(),
            plan: &self.rules.plan,
            rules: Some(&self.rules),
        };
        let usage = within(resale::usage(&scope, sub.parent, since_ms));
        Ok(usage.await?)
    }

    /// Changes a sub-account of an account.
    pub async fn change(
        &self,
        parent: AccountId,
        id: AccountId,
        fields: &SubAccountChangeFields,
    ) -> Result<SubAccount> {
        let change = SubAccountChange::read(fields)?;
        change.check(|gateway| highest_price(&self.rules, parent, gateway))?;
        let (by, stops) = (self.actor.now(), change.status.is_some());
        let now_ms = by.at_ms;
        let accounts = self.store.sub_accounts();
        let changed = accounts.change((parent, id), change, None, by);
        let changed = outcome(changed.await?, id)?;
        if stops {
            settle_queued(&self.store, id, now_ms).await;
        }
        Ok(changed)
    }

    /// Moves money between an account and its sub-account, once for each reference.
    pub async fn transfer(
        &self,
        parent: AccountId,
        id: AccountId,
        fields: &TransferFields,
    ) -> Result<Transfer> {
        let request = TransferRequest::read(fields)?;
        let by = self.actor.now();
        let transfer = Transfer {
            id: MessageId::new(by.at_ms, Random::system().bytes()),
            account: id,
            request,
            created_at_ms: by.at_ms,
        };
        let accounts = self.store.sub_accounts();
        let made = accounts.transfer(parent, transfer, None, by);
        outcome(made.await?, id)
    }
}

/// Returns what a change made. A change without a key has no stored answer.
fn outcome<T>(outcome: Outcome<T>, id: AccountId) -> Result<T> {
    match outcome {
        Outcome::Made(made) => Ok(made),
        Outcome::Refused(Refusal::Object(ObjectRefusal::UnknownSubAccount))
        | Outcome::Replay(_) => Err(OperationError::NoSubAccount(id)),
        Outcome::Refused(refusal) => Err(refusal.into()),
    }
}
