//! `ogene message`

use super::answer::{Answer, Failure, pairs, table};
use super::context::Context;
use super::list::{PageArgs, Row};
use super::queries::{MessageFilters, Scope};
use crate::explanation::{explanation, meaning, receipts};
use crate::format::{Naira, lagos_time};
use crate::http::{MessageItem, TimelineData};
use clap::{Args, Subcommand};
use domain::MessageId;
use domain::schedule::parse_new_send_at;
use engine::operators::{MessageDetails, MessageRequest, OutcomeCount};
use engine::{Message as Found, Timeline};
use serde::Serialize;

#[derive(Subcommand)]
pub(super) enum Message {
    /// List messages of all accounts or of one, the newest first
    #[command(
        after_help = "A time is RFC 3339, or YYYY-MM-DD HH:MM:SS in Africa/Lagos.\n\n\
        Examples: ogene message list --account 1882399170363392 --state sending\n          \
        ogene message list --recipient 2348031234567 --since \"2027-01-31 00:00:00\" --limit 20"
    )]
    List {
        #[command(flatten)]
        scope: Scope,
        #[command(flatten)]
        filters: Box<MessageFilters>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Explain what happened to a message, and why
    #[command(
        after_help = "Every outcome is counted, and the first recipients are explained one by one. Refunds are those so far. \
        Receipts are shown as they came, without the text of the message.\n\n\
        Examples: ogene message show --message-id 019a5c1e-9f00-7abc-8000-000000000001\n          \
        ogene message show --message-id 019a5c1e-9f00-7abc-8000-000000000001 --recipient 2348031234567"
    )]
    Show {
        /// The `message_id` that the send answered
        #[arg(long, value_name = "ID")]
        message_id: MessageId,
        /// Explain this recipient alone
        #[arg(long, value_name = "NUMBER")]
        recipient: Option<String>,
        /// Explain so many recipients, 0 to 1000
        #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "recipient",
            value_parser = clap::value_parser!(u32).range(0..=1000))]
        recipients: u32,
    },
    /// Cancel a message: end and refund the recipients that no carrier has
    #[command(
        after_help = "The others go on. A running server stops within a second. A repeated cancel has the same counts.\n\n\
        Example: ogene message cancel --message-id 019a5c1e-9f00-7abc-8000-000000000001"
    )]
    Cancel {
        #[command(flatten)]
        one: One,
    },
    /// Pause a message: the recipients that no carrier has wait for a resume
    #[command(
        after_help = "The validity stands still. A running server stops within a second.\n\n\
        Example: ogene message pause --message-id 019a5c1e-9f00-7abc-8000-000000000001"
    )]
    Pause {
        #[command(flatten)]
        one: One,
    },
    /// Resume a paused message: its recipients are sent
    #[command(
        after_help = "A message whose time came during its pause is due now, or after the quiet hours of its gateway.\n\n\
        Example: ogene message resume --message-id 019a5c1e-9f00-7abc-8000-000000000001"
    )]
    Resume {
        #[command(flatten)]
        one: One,
    },
    /// Give a message another time, while no carrier has any of it
    #[command(
        after_help = "A time is RFC 3339, or YYYY-MM-DD HH:MM:SS in Africa/Lagos. A paused message stays paused.\n\n\
        Example: ogene message reschedule --message-id 019a5c1e-9f00-7abc-8000-000000000001 --send-at \"2027-01-31 18:00:00\""
    )]
    Reschedule {
        #[command(flatten)]
        one: One,
        /// The new time, at most 90 days ahead
        #[arg(long, value_name = "TIME")]
        send_at: String,
    },
}

/// The message that a command changes.
#[derive(Args)]
pub(super) struct One {
    /// The `message_id` that the send answered
    #[arg(long, value_name = "ID")]
    message_id: MessageId,
}

impl Message {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        match self {
            Self::Cancel { one } => cancelled(context, one.message_id).await,
            Self::Pause { one } => changed(context, one.message_id, MessageRequest::Pause).await,
            Self::Resume { one } => changed(context, one.message_id, MessageRequest::Resume).await,
            Self::Reschedule { one, send_at } => {
                let send_at_ms = parse_new_send_at(Some(&send_at));
                let send_at_ms = send_at_ms.map_err(|fault| Failure::usage(fault.to_string()))?;
                let request = MessageRequest::Reschedule { send_at_ms };
                changed(context, one.message_id, request).await
            }
            Self::List {
                scope,
                filters,
                page,
            } => {
                let queries = context.queries().await?;
                let (scope, fields) = (scope.of(), filters.fields());
                let read = async |request| queries.messages(scope, &fields, &request).await;
                page.print(context, COLUMNS, read, row).await
            }
            Self::Show {
                message_id,
                recipient,
                recipients,
            } => {
                let queries = context.queries().await?;
                let id = message_id.to_string();
                let details = queries.message(&id, recipient.as_deref(), recipients);
                shown(details.await?)
            }
        }
    }
}

/// The counts of a cancel.
#[derive(Serialize)]
struct CancelledJson {
    message_id: String,
    state: &'static str,
    cancelled: i64,
    not_cancelled: i64,
    refunded: Naira,
    is_complete: bool,
}

async fn cancelled(context: &Context, id: MessageId) -> Result<Answer, Failure> {
    let rules = context.config()?.settings().rules;
    let messages = context.open().await?.messages(rules);
    let cancelled = messages.cancel(&id.to_string()).await?;
    let json = CancelledJson {
        message_id: id.to_string(),
        state: cancelled.state.as_str(),
        cancelled: cancelled.cancelled,
        not_cancelled: cancelled.not_cancelled,
        refunded: Naira(cancelled.refunded),
        is_complete: cancelled.is_complete,
    };
    let mut text = format!(
        "{} recipients of {id} are cancelled, and {} NGN is refunded. {} are not cancelled.",
        cancelled.cancelled, cancelled.refunded, cancelled.not_cancelled
    );
    if !cancelled.is_complete {
        text.push_str(
            " A node has some of them. The cancel goes on as soon as the node gives them back or is removed.",
        );
    }
    Answer::new(text, &json)
}

async fn changed(
    context: &Context,
    id: MessageId,
    request: MessageRequest,
) -> Result<Answer, Failure> {
    let rules = context.config()?.settings().rules;
    let messages = context.open().await?.messages(rules);
    let message = messages.make(&id.to_string(), request).await?;
    let due = message.scheduled_for_ms.map(lagos_time);
    let due = due.map_or_else(String::new, |at| format!(", scheduled for {at}"));
    let text = format!("{id} is {}{due}.", message.state.as_str());
    Answer::new(text, &MessageJson::new(message))
}

/// A message with its account.
#[derive(Serialize)]
struct MessageJson {
    user_id: String,
    #[serde(flatten)]
    message: MessageItem,
}

impl MessageJson {
    fn new(message: Found) -> Self {
        Self {
            user_id: message.account.to_string(),
            message: MessageItem::new(message),
        }
    }
}

const COLUMNS: [&str; 8] = [
    "MESSAGE_ID",
    "USER_ID",
    "CREATED_AT",
    "STATE",
    "SENDER",
    "DELIVERED",
    "FAILED",
    "PENDING",
];

fn row(message: &Found) -> Result<Row<8>, Failure> {
    let json = MessageJson::new(message.clone());
    let cells = [
        message.id.to_string(),
        message.account.to_string(),
        lagos_time(message.created_at_ms),
        message.state.as_str().to_owned(),
        message.sender.clone(),
        message.delivered.to_string(),
        message.failed.to_string(),
        message.pending.to_string(),
    ];
    Row::new(&json, cells)
}

/// A message with the explanation of its outcomes.
#[derive(Serialize)]
struct DetailsJson {
    user_id: String,
    environment: &'static str,
    #[serde(flatten)]
    message: MessageItem,
    outcomes: Vec<OutcomeJson>,
    recipients: Vec<RecipientJson>,
}

/// The number of recipients with one outcome.
#[derive(Serialize)]
struct OutcomeJson {
    recipients: u64,
    delivery_status: &'static str,
    error_code: Option<String>,
    meaning: Option<&'static str>,
    refunded: Naira,
}

/// A recipient with its explanation.
#[derive(Serialize)]
struct RecipientJson {
    explanation: String,
    #[serde(flatten)]
    timeline: TimelineData,
}

fn shown(details: MessageDetails) -> Result<Answer, Failure> {
    let MessageDetails {
        environment,
        message,
        outcomes,
        recipients,
    } = details;
    let explained: Vec<(Timeline, String)> = recipients
        .into_iter()
        .map(|one| {
            let words = explanation(&message, &one);
            (one, words)
        })
        .collect();
    let mut parts = vec![
        pairs(&facts(&message, environment.as_str())),
        table(
            OUTCOME_COLUMNS,
            &outcomes.iter().map(outcome_cells).collect::<Vec<_>>(),
        ),
    ];
    let mut lines = Vec::new();
    for (one, words) in &explained {
        let state = &one.recipient;
        let line = format!("{} ({}): {words}.", state.recipient, state.network);
        lines.push(line);
        lines.extend(receipts(&one.events).map(|line| format!("  {line}")));
    }
    if !lines.is_empty() {
        parts.push(lines.join("\n"));
    }
    let json = DetailsJson {
        user_id: message.account.to_string(),
        environment: environment.as_str(),
        message: MessageItem::new(message),
        outcomes: outcomes.into_iter().map(outcome_json).collect(),
        recipients: explained
            .into_iter()
            .map(|(one, explanation)| RecipientJson {
                explanation,
                timeline: TimelineData::new(one, environment),
            })
            .collect(),
    };
    Answer::new(parts.join("\n\n"), &json)
}

fn facts(message: &Found, environment: &str) -> Vec<(&'static str, String)> {
    let text = match &message.body {
        // The text is escaped, because a terminal obeys control characters.
        Some(body) => format!("{body:?}, pages: {}", message.page_count),
        None if message.is_personalised => "each recipient has its own".to_owned(),
        None => "not shown, or removed by retention".to_owned(),
    };
    let counts = format!(
        "{}: {} delivered, {} failed, {} pending",
        message.recipients, message.delivered, message.failed, message.pending
    );
    let mut facts = vec![
        ("message_id", message.id.to_string()),
        ("user_id", message.account.to_string()),
        ("environment", environment.to_owned()),
        ("created_at", lagos_time(message.created_at_ms)),
    ];
    let scheduled_for = message.scheduled_for_ms.map(lagos_time);
    facts.extend(scheduled_for.map(|at| ("scheduled_for", at)));
    facts.extend([
        ("state", message.state.as_str().to_owned()),
        ("sender", message.sender.clone()),
        ("gateway", message.gateway.as_str().to_owned()),
        ("text", text),
        ("recipients", counts),
        ("cost", format!("{} NGN", message.cost)),
        ("refunded", format!("{} NGN", message.refunded)),
    ]);
    let reference = message.customer_reference.as_ref();
    facts.extend(reference.map(|reference| ("customer_reference", format!("{reference:?}"))));
    facts
}

const OUTCOME_COLUMNS: [&str; 4] = ["RECIPIENTS", "DELIVERY_STATUS", "REFUNDED", "WHY"];

fn outcome_cells(outcome: &OutcomeCount) -> [String; 4] {
    let error = outcome.error_code.as_deref();
    let why = match (error, error.and_then(meaning)) {
        (Some(error), Some(meaning)) => format!("{error}: {meaning}"),
        (Some(error), None) => error.to_owned(),
        (None, _) => "-".to_owned(),
    };
    [
        outcome.recipients.to_string(),
        outcome.delivery_status.to_owned(),
        outcome.refunded.to_string(),
        why,
    ]
}

fn outcome_json(outcome: OutcomeCount) -> OutcomeJson {
    OutcomeJson {
        recipients: outcome.recipients,
        delivery_status: outcome.delivery_status,
        meaning: outcome.error_code.as_deref().and_then(meaning),
        error_code: outcome.error_code,
        refunded: Naira(outcome.refunded),
    }
}
