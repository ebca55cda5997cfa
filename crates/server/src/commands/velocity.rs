//! `ogene velocity`

use super::answer::{Answer, Failure};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::Subcommand;
use domain::AccountId;
use domain::velocity::Block;
use engine::operators::PausedBlock;
use serde::Serialize;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Velocity {
    /// List the paused blocks of numbers with their accounts, the latest first
    #[command(
        after_help = "A block is all numbers that differ only in their last three digits. It is paused for an account that sends \
        more than `velocity.per_block_per_hour` to it.\n\nExample: ogene velocity list"
    )]
    List {
        #[command(flatten)]
        page: PageArgs,
    },
    /// End a pause: within a second the account may send to the block again, with a count of zero
    #[command(
        after_help = "Example: ogene velocity release --account 1882399170363392 --block 2348031234"
    )]
    Release {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        /// The block, as `ogene velocity list` shows it
        #[arg(long, value_name = "BLOCK")]
        block: Block,
    },
}

impl Velocity {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        match self {
            Self::List { page } => {
                let read = async |request| operations.velocity().paused(&request).await;
                page.print(context, COLUMNS, read, listed).await
            }
            Self::Release { account, block } => {
                operations.velocity().release(account, block).await?;
                let json = json!({ "user_id": account.to_string(), "block": block.to_string() });
                Answer::new(format!("{account} may send to {block} again."), &json)
            }
        }
    }
}

#[derive(Serialize)]
struct PausedJson {
    user_id: String,
    block: String,
    paused_at: String,
    until: String,
}

impl From<&PausedBlock> for PausedJson {
    fn from(paused: &PausedBlock) -> Self {
        Self {
            user_id: paused.account.to_string(),
            block: paused.block.to_string(),
            paused_at: lagos_time(paused.paused_at_ms),
            until: lagos_time(paused.until_ms),
        }
    }
}

const COLUMNS: [&str; 4] = ["USER_ID", "BLOCK", "PAUSED", "UNTIL"];

fn listed(paused: &PausedBlock) -> Result<Row<4>, Failure> {
    let paused = PausedJson::from(paused);
    let cells = [
        paused.user_id.clone(),
        paused.block.clone(),
        paused.paused_at.clone(),
        paused.until.clone(),
    ];
    Row::new(&paused, cells)
}
