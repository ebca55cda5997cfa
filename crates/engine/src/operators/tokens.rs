//! The operations on tokens.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::MAX_RANGES;
use super::error::{OperationError, Result, checked};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use domain::AccountId;
use domain::search::List;
use domain::token::{self, TokenTerms};
use std::collections::HashMap;
use store::{Outcome, Store, TokenInfo};

/// API tokens: create, list, revoke.
pub struct Tokens {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Tokens {
    /// Creates a token. Its text is returned only here, and only its hash is stored.
    pub async fn create(
        self,
        id: AccountId,
        name: &str,
        terms: TokenTerms,
    ) -> Result<(TokenInfo, String)> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let (info, text) = made(id, name, terms, by.at_ms)?;
        let hash = token::hash(&text);
        self.store.tokens().add(info.clone(), hash, by).await?;
        Ok((info, text))
    }

    /// Creates a token for its account, which has a maximum of them, as the API does.
    pub async fn request(
        self,
        id: AccountId,
        name: &str,
        terms: TokenTerms,
    ) -> Result<(TokenInfo, String)> {
        let by = self.actor.now();
        let (info, text) = made(id, name, terms, by.at_ms)?;
        let hash = token::hash(&text);
        match self.store.tokens().request(info, hash, None, by).await? {
            Outcome::Made(info) => Ok((info, text)),
            Outcome::Refused(refusal) => Err(refusal.into()),
            // A request without a key has no stored answer.
            Outcome::Replay(_) => Err(OperationError::NoAccount(id)),
        }
    }

    /// Returns a page of the tokens of all accounts or of one, by account and newest first.
    pub async fn list(
        self,
        account: Option<AccountId>,
        request: &PageRequest,
    ) -> Result<Page<TokenInfo>> {
        let scope = scope_of(account);
        let behind = request.behind(List::Tokens, &scope)?;
        let rows = self
            .store
            .tokens()
            .list(account, behind, request.rows())
            .await?;
        Ok(request.page(List::Tokens, &scope, rows))
    }

    /// Returns the last uses of the tokens of an account, by their ids. A running server stores them
    /// once a minute.
    pub async fn uses(self, id: AccountId) -> Result<HashMap<String, i64>> {
        Ok(self.store.tokens().uses(id).await?)
    }

    /// Revokes a token of one account, for a user of that account.
    pub async fn revoke_of(self, id: AccountId, token: &str) -> Result<()> {
        // A token stays with its account, so the answer holds until the change.
        match self.store.tokens().owner(token).await? {
            Some(owner) if owner == id => self.revoke(token).await,
            _ => Err(OperationError::NoToken(token.to_owned())),
        }
    }

    /// Revokes a token. A running server refuses it within a second.
    pub async fn revoke(self, token: &str) -> Result<()> {
        let revoked = self.store.tokens().revoke(token, self.actor.now()).await?;
        revoked
            .then_some(())
            .ok_or_else(|| OperationError::NoToken(token.to_owned()))
    }
}

/// Returns a new token and its text.
fn made(id: AccountId, name: &str, terms: TokenTerms, now_ms: i64) -> Result<(TokenInfo, String)> {
    if terms.expires_at_ms.is_some_and(|expires| expires <= now_ms) {
        return Err(OperationError::Expired);
    }
    if terms.allowed.0.len() > MAX_RANGES {
        return Err(OperationError::Ranges);
    }
    let text = token::make(&Random::system().bytes()).ok_or(OperationError::NoRandomBytes)?;
    let info = TokenInfo {
        id: format!("tok_{:016x}", Random::system().number()),
        account: id,
        name: checked("the name", name)?,
        terms,
        created_at_ms: now_ms,
        revoked_at_ms: None,
    };
    Ok((info, text))
}
