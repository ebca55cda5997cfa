//! `ogene callback`

use super::Surroundings;
use super::answer::{Answer, Failure, table};
use super::open::account_id;
use crate::written::lagos_time;
use clap::{Args, Subcommand};
use domain::{AccountId, MessageId};
use engine::admin;
use serde_json::{Value, json};
use store::{Callback as DeadCallback, DeadOrigin};

#[derive(Subcommand)]
pub(super) enum Callback {
    /// List dead callbacks: how many to each origin, or those of one account
    #[command(
        after_help = "A callback is dead when its last attempt failed, or its receiver refused it for good.\n\n\
        Examples: ogene callback dead\n          ogene callback dead --account 1882399170363392"
    )]
    Dead {
        /// The callbacks of this account, one by one, the latest first
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        /// At most so many of them
        #[arg(long, default_value_t = 50, value_name = "N", requires = "account")]
        limit: u32,
    },
    /// Make dead callbacks again, from their first attempt on
    #[command(
        after_help = "A running service makes them within a second, with all delays between attempts anew.\n\n\
        Examples: ogene callback replay --message 019a5c1e-9f00-7abc-8000-000000000001\n          \
        ogene callback replay --account 1882399170363392 --origin https://shop.example.ng:443"
    )]
    Replay(Which),
}

#[derive(Args)]
#[group(required = true, multiple = true)]
pub(super) struct Which {
    /// Those of this account
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: Option<AccountId>,
    /// Those to this scheme, host and port, as `ogene callback dead` shows it
    #[arg(long)]
    origin: Option<String>,
    /// Those of this message
    #[arg(long, value_name = "ID")]
    message: Option<MessageId>,
    /// All of them
    #[arg(long, conflicts_with_all = ["account", "origin", "message"])]
    all: bool,
}

impl Callback {
    pub(super) async fn run(self, around: &Surroundings) -> Result<Answer, Failure> {
        let (store, clock) = around.open().await?;
        match self {
            Self::Dead {
                account: Some(account),
                limit,
            } => one_by_one(&admin::dead_callbacks(&store, account, limit).await?),
            Self::Dead { account: None, .. } => by_origin(&admin::dead_origins(&store).await?),
            Self::Replay(which) => {
                let which = admin::Replay {
                    account: which.account,
                    origin: which.origin,
                    message: which.message,
                };
                let replayed = admin::replay_callbacks(&store, &clock, &which).await?;
                let text = match replayed {
                    0 => "No dead callback is meant: see `ogene callback dead`.".to_owned(),
                    1 => "1 callback is made again.".to_owned(),
                    many => format!("{many} callbacks are made again."),
                };
                Answer::new(text, &json!({ "replayed": replayed }))
            }
        }
    }
}

fn by_origin(dead: &[DeadOrigin]) -> Result<Answer, Failure> {
    let row = |dead: &DeadOrigin| {
        [
            dead.account.to_string(),
            dead.callbacks.to_string(),
            lagos_time(dead.oldest_ms),
            dead.origin.clone(),
        ]
    };
    let rows: Vec<_> = dead.iter().map(row).collect();
    let json: Vec<Value> = dead
        .iter()
        .map(|dead| {
            json!({
                "user_id": dead.account.to_string(),
                "origin": dead.origin,
                "callbacks": dead.callbacks,
                "oldest": lagos_time(dead.oldest_ms),
            })
        })
        .collect();
    let names = ["USER_ID", "CALLBACKS", "OLDEST", "ORIGIN"];
    Answer::new(table(names, &rows), &json)
}

fn one_by_one(dead: &[DeadCallback]) -> Result<Answer, Failure> {
    let row = |dead: &DeadCallback| {
        [
            dead.message.to_string(),
            dead.recipient.to_string(),
            dead.status.outside().to_owned(),
            dead.attempts.to_string(),
            lagos_time(dead.due_at_ms),
            dead.origin.clone(),
        ]
    };
    let rows: Vec<_> = dead.iter().map(row).collect();
    let json: Vec<Value> = dead
        .iter()
        .map(|dead| {
            json!({
                "message_id": dead.message.to_string(),
                "recipient": dead.recipient.to_string(),
                "delivery_status": dead.status.outside(),
                "attempts": dead.attempts,
                "due_at": lagos_time(dead.due_at_ms),
                "origin": dead.origin,
                "callback_url": &*dead.url,
            })
        })
        .collect();
    let names = [
        "MESSAGE_ID",
        "RECIPIENT",
        "STATUS",
        "ATTEMPTS",
        "DUE",
        "ORIGIN",
    ];
    Answer::new(table(names, &rows), &json)
}
