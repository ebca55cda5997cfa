//! The operations on tokens (docs/spec/tokens.md).

use super::answers::{self, Name, TEN_O_CLOCK_MS, add_enveloped, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_CHANGES, OF_LISTS, addition, change_of_one, list_of, one_page, request,
    text,
};
use super::otp::body;
use super::queries::InPath;
use crate::http::api::list::List;
use crate::http::api::tokens::{self, RevokedToken, TokenItem};
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::token::{
    MAX_NAME_CHARACTERS, MAX_PER_MINUTE, MAX_RANGES, MAX_TOKENS, Scope, Scopes, TokenTerms,
};
use domain::{AccountId, Environment};
use engine::operators::TokenInfo;
use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

const TOKENS: Name = "TokensAnswer";
const TOKEN: Name = "TokenAnswer";
const REVOKED: Name = "TokenRevokedAnswer";
const REQUEST: &str = "TokenRequest";
const TOKEN_ID: &str = "tok_51f0c39a7be2d404";
/// The token in a path.
const IN_PATH: InPath = ("token_id", "The `token_id` in the list.");

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<TokenItem>>(TOKENS, &mut schemas);
    answers::add::<Envelope<TokenItem>>(TOKEN, &mut schemas);
    add_enveloped::<RevokedToken>(REVOKED, &mut schemas);
    schemas
}

/// Adds the operations of an environment. The sandbox has the list, as its tokens are the same.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut at = EnvironmentPaths { paths, prefix };
    at.get("/tokens", list_tokens(environment, installation));
    if environment == Environment::Live {
        at.post("/tokens", make(installation));
        at.delete("/tokens/{token_id}", revoke(installation));
    }
}

fn list_tokens(environment: Environment, installation: &Installation) -> OperationBuilder {
    let found = one_page(example());
    let draft = Draft {
        id: "tokens",
        summary: "List tokens",
        about: of_reads(
            "The tokens of the account, newest first, with those that are revoked. The sandbox has the same tokens.",
            installation,
        ),
        codes: &OF_LISTS,
        success: success(TOKENS, &tokens::list_answer(found, environment)),
    };
    list_of(draft, environment)
}

fn make(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Makes a token, and shows it once. It permits no more than the token of the request: its scopes, addresses, expiry \
         and rate lie within those of that token. An account has at most {MAX_TOKENS} tokens that are not revoked. A \
         repeated request with the same Idempotency-Key gets the answer with `token` null."
    );
    let text = domain::token::make(&[7; domain::token::RANDOM_BYTES]);
    let draft = Draft {
        id: "make_token",
        summary: "Make a token",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(TOKEN, &tokens::made_answer(&example(), text))),
    };
    let fields = json!({
        "name": "web shop", "scopes": ["send", "read"], "expires_at": "2027-12-31 23:59:59",
        "allow": ["203.0.113.0/24"], "per_minute": 600,
    });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, fields),
    )
}

fn revoke(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "revoke_token",
        summary: "Revoke a token",
        about: of_reads(
            "Revokes a token of the account, which may be the token of the request. Every node refuses it within a second.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(REVOKED, &tokens::revoked_answer(TOKEN_ID))),
    };
    change_of_one(draft, IN_PATH, installation)
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let names: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    let scope = ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names));
    let scopes = ArrayBuilder::new()
        .items(scope)
        .description(Some("The scopes. Without any, the token has all."));
    let range = text("An address, or a range such as 203.0.113.0/24.");
    let allow = ArrayBuilder::new()
        .items(range)
        .max_items(Some(MAX_RANGES))
        .description(Some(
            "The addresses from which the token may be used. Without any, it may be used from all.",
        ));
    let per_minute = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(MAX_PER_MINUTE))
        .description(Some(
            "The maximum number of requests in any 60 seconds, beside the limits of the account.",
        ));
    let object = ObjectBuilder::new()
        .description(Some("A token."))
        .property(
            "name",
            text("The program that uses it.").max_length(Some(MAX_NAME_CHARACTERS)),
        )
        .required("name")
        .property("scopes", scopes)
        .property(
            "expires_at",
            text("The time from which the token is refused. Without it, the token never expires."),
        )
        .property("allow", allow)
        .property("per_minute", per_minute);
    request(REQUEST, object, installation)
}

/// Returns a token of a shop.
fn example() -> TokenInfo {
    TokenInfo {
        id: TOKEN_ID.to_owned(),
        account: AccountId(1),
        name: "web shop".to_owned(),
        terms: TokenTerms {
            expires_at_ms: Some(TEN_O_CLOCK_MS + 86_400_000),
            allowed: "203.0.113.0/24".parse().unwrap_or_default(),
            scopes: Scopes::of(&[Scope::Send, Scope::Read]),
            per_minute: Some(600),
        },
        created_at_ms: TEN_O_CLOCK_MS,
        revoked_at_ms: None,
    }
}
