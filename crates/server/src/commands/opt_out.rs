//! `ogene opt-out`

use super::answer::{Answer, Failure};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::{Args, Subcommand};
use domain::AccountId;
use domain::opt_out::{OptOut, OptOutFields};
use serde::Serialize;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum OptOuts {
    /// Opt a number out of the messages of an account
    #[command(
        after_help = "Gateways with `respect_opt_outs` leave the number out of sends from now on, and do not charge it. A number \
        that opted out before keeps its opt-out. A running server applies the first opt-out of an account within a second.\n\n\
        Examples: ogene opt-out add --account 1882399170363392 --recipient 2348031234567\n          \
        ogene opt-out add --account 1882399170363392 --recipient 2348031234567 --sender AdaFoods --reason complaint"
    )]
    Add(Add),
    /// List the numbers that opted out of an account, the newest first
    #[command(after_help = "Example: ogene opt-out list --account 1882399170363392")]
    List {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Remove all opt-outs of a number
    #[command(
        after_help = "Example: ogene opt-out remove --account 1882399170363392 --recipient 2348031234567"
    )]
    Remove {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// The number
        #[arg(long, value_name = "NUMBER")]
        recipient: String,
    },
}

#[derive(Args)]
pub(super) struct Add {
    /// The account's `user_id`
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: AccountId,
    /// The number
    #[arg(long, value_name = "NUMBER")]
    recipient: String,
    /// The sender ID whose messages the number does not get [default: all of the account]
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// The reason, of at most 100 characters
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

impl OptOuts {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        match self {
            Self::Add(add) => add.run(context).await,
            Self::List { account, page } => {
                let operations = context.open().await?;
                let read = async |request| operations.opt_outs().list(account, &request).await;
                page.print(context, COLUMNS, read, row).await
            }
            Self::Remove { account, recipient } => {
                let operations = context.open().await?;
                let removed = operations.opt_outs().remove(account, &recipient).await?;
                let text = format!("The account {account} may send to the number again.");
                Answer::new(text, &json!({ "removed": removed }))
            }
        }
    }
}

impl Add {
    async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let fields = OptOutFields {
            recipient: Some(self.recipient),
            sender: self.sender,
            reason: self.reason,
        };
        let operations = context.open().await?;
        let opt_out = operations.opt_outs().add(self.account, &fields).await?;
        let of = match &opt_out.sender {
            Some(sender) => format!("`{sender}` of the account {}", self.account),
            None => format!("the account {}", self.account),
        };
        let text = format!("{} has opted out of {of}.", opt_out.recipient);
        Answer::new(text, &OptOutJson::from(&opt_out))
    }
}

#[derive(Serialize)]
struct OptOutJson<'a> {
    recipient: String,
    sender: Option<&'a str>,
    reason: Option<&'a str>,
    created_at: String,
}

impl<'a> From<&'a OptOut> for OptOutJson<'a> {
    fn from(opt_out: &'a OptOut) -> Self {
        Self {
            recipient: opt_out.recipient.to_string(),
            sender: opt_out.sender.as_deref(),
            reason: opt_out.reason.as_deref(),
            created_at: lagos_time(opt_out.created_at_ms),
        }
    }
}

const COLUMNS: [&str; 4] = ["CREATED", "RECIPIENT", "SENDER", "REASON"];

fn row(opt_out: &OptOut) -> Result<Row<4>, Failure> {
    let json = OptOutJson::from(opt_out);
    let cells = [
        json.created_at.clone(),
        json.recipient.clone(),
        json.sender.unwrap_or("-").to_owned(),
        json.reason.unwrap_or("-").to_owned(),
    ];
    Row::new(&json, cells)
}
