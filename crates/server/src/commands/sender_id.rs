//! `ogene sender-id`

use super::answer::{Answer, Failure, table};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::{AccountId, SenderStatus};
use engine::operators::{Operations, RegisteredSender};
use serde::Serialize;

#[derive(Subcommand)]
pub(super) enum SenderId {
    /// Register a sender ID of an account; it may be used after its approval
    #[command(
        after_help = "Example: ogene sender-id register --account 1882399170363392 --sender-id AdaFoods \
        --purpose \"Order updates\""
    )]
    Register {
        #[command(flatten)]
        which: Which,
        /// The purpose of the sender ID
        #[arg(long)]
        purpose: String,
        /// The sender is foreign: only the gateway `international` accepts it
        #[arg(long)]
        international: bool,
    },
    /// Approve a sender ID, so that it may be used
    #[command(
        after_help = "Example: ogene sender-id approve --account 1882399170363392 --sender-id AdaFoods"
    )]
    Approve(Which),
    /// Reject a sender ID, with a reason
    #[command(
        after_help = "Example: ogene sender-id reject --account 1882399170363392 --sender-id Bank \
        --reason \"Proof of the name is missing\""
    )]
    Reject {
        #[command(flatten)]
        which: Which,
        /// The reason, in words for the customer
        #[arg(long)]
        reason: String,
    },
    /// Suspend an approved sender ID
    #[command(
        after_help = "Example: ogene sender-id suspend --account 1882399170363392 --sender-id AdaFoods"
    )]
    Suspend(Which),
    /// List sender IDs by account, the newest first
    #[command(after_help = "Example: ogene sender-id list --account 1882399170363392")]
    List {
        /// Only sender IDs of this account
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: Option<AccountId>,
        #[command(flatten)]
        page: PageArgs,
    },
}

/// The sender ID of a command.
#[derive(Args)]
pub(super) struct Which {
    /// The account's `user_id`
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: AccountId,
    /// The sender ID: 3 to 11 letters, digits, spaces and hyphens
    #[arg(long, value_name = "S")]
    sender_id: String,
}

impl SenderId {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        let set = async |which: Which, status, reason: Option<&str>| {
            let Which { account, sender_id } = &which;
            operations
                .senders()
                .set_status(*account, sender_id, status, reason)
                .await?;
            shown(&operations, &which).await
        };
        match self {
            Self::Register {
                which,
                purpose,
                international,
            } => {
                let Which { account, sender_id } = &which;
                operations
                    .senders()
                    .register(*account, sender_id, &purpose, international)
                    .await?;
                shown(&operations, &which).await
            }
            Self::Approve(which) => set(which, SenderStatus::Approved, None).await,
            Self::Reject { which, reason } => {
                set(which, SenderStatus::Rejected, Some(&reason)).await
            }
            Self::Suspend(which) => set(which, SenderStatus::Suspended, None).await,
            Self::List { account, page } => {
                let read = async |request| operations.senders().list(account, &request).await;
                let row = |found: &RegisteredSender| {
                    let json = SenderJson::from(found);
                    Row::new(&json, cells(&json))
                };
                page.print(context, COLUMNS, read, row).await
            }
        }
    }
}

/// Returns the answer with a sender ID after a change.
async fn shown(operations: &Operations, which: &Which) -> Result<Answer, Failure> {
    let Which { account, sender_id } = which;
    let found = operations.senders().show(*account, sender_id).await?;
    let json = SenderJson::from(&found);
    Answer::new(table(COLUMNS, &[cells(&json)]), &json)
}

#[derive(Serialize)]
struct SenderJson<'a> {
    user_id: String,
    sender_id: &'a str,
    status: &'static str,
    purpose: &'a str,
    international: bool,
    approved_at: Option<String>,
    rejection_reason: Option<&'a str>,
}

impl<'a> From<&'a RegisteredSender> for SenderJson<'a> {
    fn from(found: &'a RegisteredSender) -> Self {
        let sender = &found.sender;
        Self {
            user_id: found.account.to_string(),
            sender_id: &sender.name,
            status: sender.status.as_str(),
            purpose: &sender.purpose,
            international: sender.international,
            approved_at: sender.approved_at_ms.map(lagos_time),
            rejection_reason: sender.rejection_reason.as_deref(),
        }
    }
}

const COLUMNS: [&str; 6] = [
    "USER_ID",
    "SENDER_ID",
    "STATUS",
    "KIND",
    "APPROVED",
    "PURPOSE OR REASON",
];

fn cells(sender: &SenderJson<'_>) -> [String; 6] {
    let kind = if sender.international {
        "international"
    } else {
        "national"
    };
    let remark = sender.rejection_reason.unwrap_or(sender.purpose);
    [
        sender.user_id.clone(),
        sender.sender_id.to_owned(),
        sender.status.to_owned(),
        kind.to_owned(),
        sender.approved_at.clone().unwrap_or_else(|| "-".to_owned()),
        remark.to_owned(),
    ]
}
