//! `ogene token`

use super::answer::{Answer, Failure, pairs};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::config::duration;
use crate::format::{lagos_time, parse_lagos_time};
use clap::{Args, Subcommand, value_parser};
use domain::AccountId;
use domain::client_address::{AddressRange, AllowList};
use domain::token::{MAX_PER_MINUTE, NotScopes, Scope, Scopes, TokenTerms};
use engine::operators::TokenInfo;
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// Maximum lifetime of a token: a hundred years. A longer one is a typing error.
const LONGEST: Duration = Duration::from_hours(36_500 * 24);

#[derive(Subcommand)]
pub(super) enum Token {
    /// Create a token and print it; it is shown only once
    #[command(
        after_help = "Examples: ogene token create --account 1882399170363392 --name \"web shop\"\n          \
        ogene token create --account 1882399170363392 --name contractor --expires 90d --allow 203.0.113.0/24\n          \
        ogene token create --account 1882399170363392 --name reports --scope read --per-minute 60"
    )]
    Create {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Purpose of the token, as shown in lists
        #[arg(long)]
        name: String,
        #[command(flatten)]
        terms: TermsArgs,
    },
    /// List the ids and names of tokens by account, the newest first
    #[command(after_help = "Example: ogene token list --account 1882399170363392")]
    List {
        /// Only tokens of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Revoke a token: within a second it is refused
    #[command(
        after_help = "Example: ogene token revoke --id 3f2a…   (the id is in `ogene token list`)"
    )]
    Revoke {
        /// The token's id
        #[arg(long, value_name = "ID")]
        id: String,
    },
}

/// The limits of a token.
#[derive(Args)]
pub(super) struct TermsArgs {
    /// Lifetime of the token, such as 12h or 90d [default: without end]
    #[arg(long, value_name = "DURATION", value_parser = expiry_after, conflicts_with = "expires_at")]
    expires: Option<Duration>,
    /// Time from which the token is refused, in Africa/Lagos, such as 2027-01-31 or "2027-01-31 18:00:00"
    #[arg(long, value_name = "TIME", value_parser = expiry_at)]
    expires_at: Option<i64>,
    /// Address or range from which the token may be used; may be repeated [default: all addresses]
    #[arg(long, value_name = "ADDRESS")]
    allow: Vec<AddressRange>,
    /// Scope of the token: send, read, wallet or manage; may be repeated [default: all scopes]
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Vec<Scope>,
    /// Maximum number of requests in any 60 seconds [default: the limits of the account alone]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=i64::from(MAX_PER_MINUTE)))]
    per_minute: Option<u32>,
}

impl TermsArgs {
    fn terms(self, now_ms: i64) -> TokenTerms {
        let after = self.expires.map(|after| {
            let after_ms = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
            now_ms.saturating_add(after_ms)
        });
        TokenTerms {
            expires_at_ms: after.or(self.expires_at),
            allowed: AllowList(self.allow),
            scopes: if self.scope.is_empty() {
                Scopes::ALL
            } else {
                Scopes::of(&self.scope)
            },
            per_minute: self.per_minute,
        }
    }
}

fn scope(text: &str) -> Result<Scope, NotScopes> {
    Scope::from_name(text).ok_or(NotScopes)
}

fn expiry_after(text: &str) -> Result<Duration, String> {
    duration(text)
        .filter(|after| *after <= LONGEST)
        .ok_or_else(|| "give a duration such as 12h or 90d, of at most 36500d".to_owned())
}

fn expiry_at(text: &str) -> Result<i64, String> {
    parse_lagos_time(text)
        .ok_or_else(|| "give a time such as 2027-01-31 or \"2027-01-31 18:00:00\"".to_owned())
}

impl Token {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        match self {
            Self::Create {
                account,
                name,
                terms,
            } => {
                let terms = terms.terms(operations.actor().clock().now_ms());
                let (info, token) = operations.tokens().create(account, &name, terms).await?;
                created(&info, &token)
            }
            Self::List { account, page } => {
                let read = async |request| operations.tokens().list(account, &request).await;
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Revoke { id } => {
                operations.tokens().revoke(&id).await?;
                let json = json!({ "token_id": id, "revoked": true });
                Answer::new(format!("The token {id} is revoked."), &json)
            }
        }
    }
}

#[derive(Serialize)]
struct TokenJson<'a> {
    token_id: &'a str,
    user_id: String,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    created_at: String,
    expires_at: Option<String>,
    /// Addresses the token may be used from. An empty list allows all.
    allowed: Vec<String>,
    scopes: Vec<&'static str>,
    /// Requests in any 60 seconds. Without a number, the limits of the account alone count.
    per_minute: Option<u32>,
    revoked_at: Option<String>,
}

impl<'a> TokenJson<'a> {
    fn new(info: &'a TokenInfo, token: Option<&'a str>) -> Self {
        Self {
            token_id: &info.id,
            user_id: info.account.to_string(),
            name: &info.name,
            token,
            created_at: lagos_time(info.created_at_ms),
            expires_at: info.terms.expires_at_ms.map(lagos_time),
            allowed: info
                .terms
                .allowed
                .0
                .iter()
                .map(ToString::to_string)
                .collect(),
            scopes: info.terms.scopes.iter().map(Scope::as_str).collect(),
            per_minute: info.terms.per_minute,
            revoked_at: info.revoked_at_ms.map(lagos_time),
        }
    }

    fn expiry(&self) -> String {
        self.expires_at
            .clone()
            .unwrap_or_else(|| "never".to_owned())
    }

    fn rate(&self) -> String {
        let limit = self.per_minute.map(|limit| format!("{limit} a minute"));
        limit.unwrap_or_else(|| "as the account".to_owned())
    }

    fn origins(&self) -> String {
        if self.allowed.is_empty() {
            "everywhere".to_owned()
        } else {
            self.allowed.join(",")
        }
    }
}

fn created(info: &TokenInfo, token: &str) -> Result<Answer, Failure> {
    let json = TokenJson::new(info, Some(token));
    let lines = pairs(&[
        ("token", token.to_owned()),
        ("token_id", info.id.clone()),
        ("user_id", json.user_id.clone()),
        ("name", info.name.clone()),
        ("expires", json.expiry()),
        ("allowed", json.origins()),
        ("scopes", json.scopes.join(",")),
        ("rate", json.rate()),
    ]);
    Answer::new(
        format!("{lines}\nKeep the token now: it is not shown again."),
        &json,
    )
}

const COLUMNS: [&str; 8] = [
    "TOKEN_ID", "USER_ID", "CREATED", "EXPIRES", "REVOKED", "ALLOWED", "SCOPES", "NAME",
];

fn listed(info: &TokenInfo) -> Result<Row<8>, Failure> {
    let token = TokenJson::new(info, None);
    let cells = [
        token.token_id.to_owned(),
        token.user_id.clone(),
        token.created_at.clone(),
        token.expiry(),
        token.revoked_at.clone().unwrap_or_else(|| "-".to_owned()),
        token.origins(),
        token.scopes.join(","),
        token.name.to_owned(),
    ];
    Row::new(&token, cells)
}
