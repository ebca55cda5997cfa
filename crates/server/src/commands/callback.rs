//! `ogene callback`

mod secret;

use super::answer::{Answer, Failure};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::{AccountId, MessageId};
use engine::operators::Replay;
use serde::Serialize;
use serde_json::json;
use store::{Callback as DeadCallback, CallbackAttempt, DeadOrigin};

#[derive(Subcommand)]
pub(super) enum Callback {
    /// List dead callbacks: their number by origin, or each one of an account
    #[command(
        after_help = "A callback is dead after its last attempt failed, after an answer 3xx or 4xx other than 408, 425 and 429, or after \
        it waited too long for a failing receiver. 410 ends all callbacks of the message. \
        An inbound message is listed by its inbound_id and its number, with the status inbound. \
        The receipt of an SMPP user is listed with the origin smpp: and its system_id. It is dead after 72 hours without \
        an answer, or after 20 tries.\n\n\
        Examples: ogene callback dead\n          ogene callback dead --account 1882399170363392"
    )]
    Dead {
        /// List each callback of this account, the latest first
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Replay dead callbacks, from their first attempt on
    #[command(
        after_help = "A running service makes the first attempts within a second. The delays between attempts begin anew.\n\n\
        Examples: ogene callback replay --message 019a5c1e-9f00-7abc-8000-000000000001\n          \
        ogene callback replay --account 1882399170363392 --origin https://shop.example.ng:443"
    )]
    Replay(Which),
    /// Show the failed attempts of an account's callbacks, and the attempts that succeeded after them
    #[command(
        after_help = "RESULT is the HTTP status, or the reason why there was none: bad_url, unresolved, forbidden (an address \
        that is not public), unreachable, tls, timed_out, broken. A callback whose first attempt succeeded is not listed. \
        Attempts are kept for 14 days. The latest messages come first.\n\n\
        Examples: ogene callback attempts --account 1882399170363392\n          \
        ogene callback attempts --account 1882399170363392 --message 019a5c1e-9f00-7abc-8000-000000000001"
    )]
    Attempts {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// Only attempts of this message
        #[arg(long, value_name = "ID")]
        message: Option<MessageId>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Signing secrets of callbacks (Standard Webhooks): create, rotate, list, revoke
    #[command(subcommand)]
    Secret(secret::Secret),
}

#[derive(Args)]
#[group(required = true, multiple = true)]
pub(super) struct Which {
    /// Only callbacks of this account
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: Option<AccountId>,
    /// Only callbacks to this scheme, host and port, as `ogene callback dead` shows it
    #[arg(long)]
    origin: Option<String>,
    /// Only callbacks of this message
    #[arg(long, value_name = "ID")]
    message: Option<MessageId>,
    /// All dead callbacks
    #[arg(long, conflicts_with_all = ["account", "origin", "message"])]
    all: bool,
}

impl Callback {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        match self {
            Self::Attempts {
                account,
                message,
                page,
            } => {
                let read = async |request| {
                    let callbacks = operations.callbacks();
                    callbacks.attempts(account, message, &request).await
                };
                page.print(context, ATTEMPT_COLUMNS, read, attempt).await
            }
            Self::Secret(secret) => secret.run(context, &operations).await,
            Self::Dead {
                account: Some(account),
                page,
            } => {
                let read = async |request| operations.callbacks().dead(account, &request).await;
                page.print(context, DEAD_COLUMNS, read, dead).await
            }
            Self::Dead {
                account: None,
                page,
            } => {
                let read = async |request| operations.callbacks().dead_origins(&request).await;
                page.print(context, ORIGIN_COLUMNS, read, origin).await
            }
            Self::Replay(which) => {
                let which = Replay {
                    account: which.account,
                    origin: which.origin,
                    message: which.message,
                };
                let replayed = operations.callbacks().replay(&which).await?;
                let text = match replayed {
                    0 => "No dead callback matches: see `ogene callback dead`.".to_owned(),
                    1 => "1 callback is replayed.".to_owned(),
                    many => format!("{many} callbacks are replayed."),
                };
                Answer::new(text, &json!({ "replayed": replayed }))
            }
        }
    }
}

#[derive(Serialize)]
struct OriginJson<'a> {
    user_id: String,
    environment: &'static str,
    origin: &'a str,
    callbacks: i64,
    oldest: String,
}

impl<'a> From<&'a DeadOrigin> for OriginJson<'a> {
    fn from(dead: &'a DeadOrigin) -> Self {
        Self {
            user_id: dead.account.to_string(),
            environment: dead.environment.as_str(),
            origin: &dead.origin,
            callbacks: dead.callbacks,
            oldest: lagos_time(dead.oldest_ms),
        }
    }
}

const ORIGIN_COLUMNS: [&str; 5] = ["USER_ID", "ENVIRONMENT", "CALLBACKS", "OLDEST", "ORIGIN"];

fn origin(dead: &DeadOrigin) -> Result<Row<5>, Failure> {
    let dead = OriginJson::from(dead);
    let cells = [
        dead.user_id.clone(),
        dead.environment.to_owned(),
        dead.callbacks.to_string(),
        dead.oldest.clone(),
        dead.origin.to_owned(),
    ];
    Row::new(&dead, cells)
}

#[derive(Serialize)]
struct DeadJson<'a> {
    message_id: String,
    recipient: String,
    event: &'static str,
    delivery_status: Option<&'static str>,
    attempts: i64,
    due_at: String,
    origin: &'a str,
    callback_url: &'a str,
}

impl<'a> From<&'a DeadCallback> for DeadJson<'a> {
    fn from(dead: &'a DeadCallback) -> Self {
        Self {
            message_id: dead.message.to_string(),
            recipient: dead.recipient.to_string(),
            event: dead.event.kind().as_str(),
            delivery_status: dead.event.status(),
            attempts: dead.attempts,
            due_at: lagos_time(dead.due_at_ms),
            origin: &dead.origin,
            callback_url: &dead.url,
        }
    }
}

const DEAD_COLUMNS: [&str; 6] = [
    "MESSAGE_ID",
    "RECIPIENT",
    "STATUS",
    "ATTEMPTS",
    "DUE",
    "ORIGIN",
];

fn dead(dead: &DeadCallback) -> Result<Row<6>, Failure> {
    let dead = DeadJson::from(dead);
    let cells = [
        dead.message_id.clone(),
        dead.recipient.clone(),
        dead.delivery_status.unwrap_or(dead.event).to_owned(),
        dead.attempts.to_string(),
        dead.due_at.clone(),
        dead.origin.to_owned(),
    ];
    Row::new(&dead, cells)
}

#[derive(Serialize)]
struct AttemptJson<'a> {
    message_id: String,
    recipient: String,
    attempt: i64,
    made_at: String,
    result: &'a str,
    took_ms: i64,
    answer: &'a str,
}

impl<'a> From<&'a CallbackAttempt> for AttemptJson<'a> {
    fn from(kept: &'a CallbackAttempt) -> Self {
        Self {
            message_id: kept.message.to_string(),
            recipient: kept.recipient.to_string(),
            attempt: kept.attempt,
            made_at: lagos_time(kept.attempted.made_at_ms),
            result: &kept.attempted.result,
            took_ms: kept.attempted.took_ms,
            answer: &kept.attempted.answer,
        }
    }
}

const ATTEMPT_COLUMNS: [&str; 7] = [
    "MESSAGE_ID",
    "RECIPIENT",
    "ATTEMPT",
    "MADE",
    "RESULT",
    "TOOK_MS",
    "ANSWER",
];

fn attempt(kept: &CallbackAttempt) -> Result<Row<7>, Failure> {
    let kept = AttemptJson::from(kept);
    let cells = [
        kept.message_id.clone(),
        kept.recipient.clone(),
        kept.attempt.to_string(),
        kept.made_at.clone(),
        kept.result.to_owned(),
        kept.took_ms.to_string(),
        kept.answer.to_owned(),
    ];
    Row::new(&kept, cells)
}
