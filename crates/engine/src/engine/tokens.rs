//! The changes of customers to their tokens (docs/spec/tokens.md).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::Refusal;
use domain::idempotency::{self, Operation};
use domain::token::{self, TokenFields, TokenRequest};
use store::TokenInfo;

/// A token that was made. Its text is known only to the first request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MadeToken {
    /// The token without its text.
    pub info: TokenInfo,
    /// The text.
    pub text: String,
}

/// Makes a token that permits no more than the one of the request.
pub async fn make_token(
    admission: &Admission,
    fields: &TokenFields,
    keyed: Option<KeyedAnswer<TokenInfo>>,
) -> Result<Changed<MadeToken>, Error> {
    let context = admission.context();
    let request = TokenRequest::read(fields)?;
    let meaning = idempotency::of_token(&request);
    let shown = |info: &TokenInfo| (info.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let by = admission.author();
    request.check(admission.caller().terms(), by.at_ms)?;
    let text = token::make(&context.random.bytes());
    let text = text.ok_or(Refusal::Unavailable { retry_after_s: 1 })?;
    let info = TokenInfo {
        id: format!("tok_{:016x}", context.random.number()),
        account: admission.customer().account.id,
        name: request.name,
        terms: request.terms,
        created_at_ms: by.at_ms,
        revoked_at_ms: None,
    };
    let tokens = context.store.tokens();
    let requested = tokens.request(info, token::hash(&text), claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    changed(outcome, |info| MadeToken { info, text })
}

/// Revokes a token of the account. Returns its id.
pub async fn revoke_token(
    admission: &Admission,
    id: &str,
    keyed: Option<KeyedAnswer<String>>,
) -> Result<Changed<String>, Error> {
    let meaning = idempotency::of_change(Operation::RevokeToken, id, None);
    let shown = |id: &String| (id.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let tokens = admission.context().store.tokens();
    let account = admission.customer().account.id;
    let given_up = tokens.give_up(account, id, claimed.keyed.take(), admission.author());
    let outcome = within(async { Ok(given_up.await?) }).await?;
    changed(outcome, |id| id)
}
