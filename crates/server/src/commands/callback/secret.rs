//! `ogene callback secret`

use crate::commands::answer::{Answer, Failure, pairs};
use crate::commands::arguments::account_id;
use crate::commands::context::Context;
use crate::commands::list::{PageArgs, Row};
use crate::config;
use crate::format::lagos_time;
use clap::Subcommand;
use domain::AccountId;
use engine::operators::{CallbackSecret, Operations};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

#[derive(Subcommand)]
pub(crate) enum Secret {
    /// Create an account's signing secret and print it; it is shown only once
    #[command(
        after_help = "The customer verifies `webhook-signature` with it, by any library of Standard Webhooks. The callbacks of \
        an account without a secret are not signed.\n\nExample: ogene callback secret create --account 1882399170363392"
    )]
    Create {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
    },
    /// Create another secret and print it; the previous one also signs for a while
    #[command(
        after_help = "Examples: ogene callback secret rotate --account 1882399170363392\n          \
        ogene callback secret rotate --account 1882399170363392 --overlap 0s   (the secret has leaked)"
    )]
    Rotate {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Time in which both secrets sign
        #[arg(long, value_name = "TIME", default_value = "24h", value_parser = overlap)]
        overlap: Duration,
    },
    /// List the ids of the secrets that sign now
    #[command(
        after_help = "A `secret_id` is the start of the secret's SHA-256, so a customer can compare it with \
        the secret.\n\nExample: ogene callback secret list --account 1882399170363392"
    )]
    List {
        /// Only secrets of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Revoke an account's secrets: within a second its callbacks are no longer signed
    #[command(
        after_help = "Examples: ogene callback secret revoke --account 1882399170363392\n          \
        ogene callback secret revoke --account 1882399170363392 --id sec_3f2a…   (the others go on signing)"
    )]
    Revoke {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Only this secret
        #[arg(long, value_name = "SECRET_ID")]
        id: Option<String>,
    },
}

impl Secret {
    pub(super) async fn run(
        self,
        context: &Context,
        operations: &Operations,
    ) -> Result<Answer, Failure> {
        match self {
            Self::Create { account } => {
                shown_once(&operations.callbacks().create_secret(account).await?)
            }
            Self::Rotate { account, overlap } => shown_once(
                &operations
                    .callbacks()
                    .rotate_secret(account, overlap)
                    .await?,
            ),
            Self::List { account, page } => {
                let read = async |request| {
                    let callbacks = operations.callbacks();
                    callbacks.list_secrets(account, &request).await
                };
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Revoke { account, id } => {
                let revoked = operations
                    .callbacks()
                    .revoke_secrets(account, id.as_deref())
                    .await?;
                let text = match revoked {
                    1 => "1 secret is revoked.".to_owned(),
                    many => format!("{many} secrets are revoked."),
                };
                Answer::new(text, &json!({ "revoked": revoked }))
            }
        }
    }
}

fn overlap(text: &str) -> Result<Duration, String> {
    config::duration(text).ok_or_else(|| "must be a time such as 30m, 24h or 7d".to_owned())
}

#[derive(Serialize)]
struct SecretJson {
    secret_id: String,
    user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    created_at: String,
    ends_at: Option<String>,
}

impl From<&CallbackSecret> for SecretJson {
    /// The result leaves out the secret itself.
    fn from(secret: &CallbackSecret) -> Self {
        Self {
            secret_id: secret.signing.secret.id(),
            user_id: secret.account.to_string(),
            secret: None,
            created_at: lagos_time(secret.created_at_ms),
            ends_at: secret.signing.ends_at_ms.map(lagos_time),
        }
    }
}

fn shown_once(secret: &CallbackSecret) -> Result<Answer, Failure> {
    let text = secret.signing.secret.text();
    let json = SecretJson {
        secret: Some(text.clone()),
        ..SecretJson::from(secret)
    };
    let lines = pairs(&[
        ("secret", text),
        ("secret_id", json.secret_id.clone()),
        ("user_id", json.user_id.clone()),
    ]);
    Answer::new(
        format!("{lines}\nKeep the secret now: it is not shown again."),
        &json,
    )
}

const COLUMNS: [&str; 4] = ["SECRET_ID", "USER_ID", "CREATED", "ENDS"];

fn listed(secret: &CallbackSecret) -> Result<Row<4>, Failure> {
    let secret = SecretJson::from(secret);
    let cells = [
        secret.secret_id.clone(),
        secret.user_id.clone(),
        secret.created_at.clone(),
        secret.ends_at.clone().unwrap_or_else(|| "-".to_owned()),
    ];
    Row::new(&secret, cells)
}
