//! The commands about tokens.

use super::accounts::account;
use super::actor::Operator;
use super::error::MAX_RANGES;
use super::error::{AdminError, Result, checked};
use crate::context::random::Random;
use domain::AccountId;
use domain::token::{self, Terms, TokenHash};
use store::{Store, TokenInfo};

/// Makes a token. Its text is given this once and kept nowhere.
pub async fn create_token(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    name: &str,
    terms: Terms,
) -> Result<(TokenInfo, String)> {
    account(store, id).await?;
    let by = operator.now();
    if terms
        .expires_at_ms
        .is_some_and(|expires| expires <= by.at_ms)
    {
        return Err(AdminError::Expired);
    }
    if terms.allowed.0.len() > MAX_RANGES {
        return Err(AdminError::Ranges);
    }
    let text = token::make(&Random::system().bytes()).ok_or(AdminError::NoChance)?;
    let info = TokenInfo {
        id: format!("tok_{:016x}", Random::system().number()),
        account: id,
        name: checked("the name", name)?,
        terms,
        created_at_ms: by.at_ms,
        revoked_at_ms: None,
    };
    let hash: TokenHash = token::hash(&text);
    store.add_token(info.clone(), hash, by).await?;
    Ok((info, text))
}

/// All tokens, or those of one account.
pub async fn list_tokens(store: &Store, account: Option<AccountId>) -> Result<Vec<TokenInfo>> {
    Ok(store.tokens(account).await?)
}

/// Revokes a token; a running server refuses it within a second.
pub async fn revoke_token(store: &Store, operator: &Operator, token: &str) -> Result<()> {
    let revoked = store.revoke_token(token, operator.now()).await?;
    revoked
        .then_some(())
        .ok_or_else(|| AdminError::NoToken(token.to_owned()))
}
