//! `ogene token`

use super::Surroundings;
use super::answer::{Answer, Failure, pairs};
use super::open::account_id;
use crate::written::lagos_time;
use clap::Subcommand;
use domain::AccountId;
use engine::admin::{self, TokenInfo};
use serde::Serialize;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Token {
    /// Create a token and print it; it is shown this once
    #[command(
        after_help = "Example: ogene token create --account 1882399170363392 --name \"web shop\""
    )]
    Create {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// What it is for, so that it is known again
        #[arg(long)]
        name: String,
    },
    /// List tokens, without the tokens themselves
    #[command(after_help = "Example: ogene token list --account 1882399170363392")]
    List {
        /// Only those of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
    },
    /// Revoke a token: within a second it is good for nothing
    #[command(
        after_help = "Example: ogene token revoke --id 3f2a…   (the id is in `ogene token list`)"
    )]
    Revoke {
        /// The token's id
        #[arg(long, value_name = "ID")]
        id: String,
    },
}

impl Token {
    pub(super) async fn run(self, around: &Surroundings) -> Result<Answer, Failure> {
        let (store, clock) = around.open().await?;
        match self {
            Self::Create { account, name } => {
                let (info, token) = admin::create_token(&store, &clock, account, &name).await?;
                created(&info, &token)
            }
            Self::List { account } => listed(&admin::list_tokens(&store, account).await?),
            Self::Revoke { id } => {
                admin::revoke_token(&store, &clock, &id).await?;
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
            revoked_at: info.revoked_at_ms.map(lagos_time),
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
    ]);
    Answer::new(
        format!("{lines}\nKeep the token now: it is not shown again."),
        &json,
    )
}

fn listed(tokens: &[TokenInfo]) -> Result<Answer, Failure> {
    let json: Vec<_> = tokens
        .iter()
        .map(|info| TokenJson::new(info, None))
        .collect();
    let row = |token: &TokenJson<'_>| {
        [
            token.token_id.to_owned(),
            token.user_id.clone(),
            token.created_at.clone(),
            token.revoked_at.clone().unwrap_or_else(|| "-".to_owned()),
            token.name.to_owned(),
        ]
    };
    let names = ["TOKEN_ID", "USER_ID", "CREATED", "REVOKED", "NAME"];
    Answer::list(names, &json, row)
}
