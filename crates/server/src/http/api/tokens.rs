//! `GET` and `POST /tokens`, and `DELETE /tokens/{token_id}` (docs/spec/tokens.md).

use super::list::List;
use crate::format::LagosTime;
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::{Adding, Removing};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::token::{Scope, TokenFields};
use engine::operators::TokenInfo;
use engine::{ListPage, tokens};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the tokens of the account.
pub(crate) async fn list(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.tokens(fields.page()).await?;
        Ok::<_, Failure>(list_answer(found, environment))
    };
    call.answer(found.await)
}

/// Makes a token.
pub(crate) async fn make(adding: Adding<TokenFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    // A stored answer does not have the text of the token.
    let keyed = call.keyed(key, |info: &TokenInfo| made_answer(info, None));
    let made = tokens::make_token(&call.admission, &fields, keyed).await;
    call.changed(made, |made| {
        made_answer(&made.info, Some(made.text.clone()))
    })
}

/// Revokes a token of the account.
pub(crate) async fn revoke(removing: Removing) -> Response {
    let Removing { call, id, key } = removing;
    let answer = |id: &String| revoked_answer(id);
    let keyed = call.keyed(key, answer);
    let revoked = tokens::revoke_token(&call.admission, &id, keyed).await;
    call.changed(revoked, answer)
}

/// Returns the envelope of a page of tokens.
pub(crate) fn list_answer(
    found: ListPage<TokenInfo>,
    environment: Environment,
) -> Envelope<List<TokenItem>> {
    let item = |info| TokenItem::new(&info, None);
    let list = List::new(found, environment, item);
    Envelope::new("Tokens retrieved.", list)
}

/// Returns the envelope of a token that was made.
pub(crate) fn made_answer(info: &TokenInfo, text: Option<String>) -> Envelope<TokenItem> {
    Envelope::new(
        "Token made. It is shown only here.",
        TokenItem::new(info, text),
    )
}

/// Returns the envelope of a token that was revoked.
pub(crate) fn revoked_answer(id: &str) -> Envelope<RevokedToken> {
    let token_id = id.to_owned();
    Envelope::new("Token revoked.", RevokedToken { token_id })
}

/// A token of the account.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenItem {
    /// The id of the token.
    token_id: String,
    /// The token itself in the first answer to the request that made it, null anywhere else.
    #[schema(required = true)]
    token: Option<String>,
    /// The program that uses it.
    #[schema(example = "web shop")]
    name: String,
    /// Its scopes: `send`, `read`, `wallet`, `manage`.
    scopes: Vec<&'static str>,
    /// The time from which it is refused, or null.
    #[schema(required = true)]
    expires_at: Option<LagosTime>,
    /// The ranges of addresses from which it may be used. An empty list allows every address.
    allow: Vec<String>,
    /// The maximum number of requests in any 60 seconds, or null.
    #[schema(required = true)]
    per_minute: Option<u32>,
    /// The time at which it was made.
    created_at: LagosTime,
    /// The time at which it was revoked, or null.
    #[schema(required = true)]
    revoked_at: Option<LagosTime>,
}

impl TokenItem {
    fn new(info: &TokenInfo, token: Option<String>) -> Self {
        let time = |at_ms| LagosTime { at_ms };
        let terms = &info.terms;
        Self {
            token_id: info.id.clone(),
            token,
            name: info.name.clone(),
            scopes: terms.scopes.iter().map(Scope::as_str).collect(),
            expires_at: terms.expires_at_ms.map(time),
            allow: terms.allowed.0.iter().map(ToString::to_string).collect(),
            per_minute: terms.per_minute,
            created_at: time(info.created_at_ms),
            revoked_at: info.revoked_at_ms.map(time),
        }
    }
}

/// A token that was revoked.
#[derive(Serialize, ToSchema)]
pub(crate) struct RevokedToken {
    /// The id of the token.
    token_id: String,
}
