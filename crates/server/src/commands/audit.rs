//! `ogene audit`

use super::answer::{Answer, Failure};
use super::arguments::account_id;
use super::context::Context;
use super::list::{PageArgs, Row};
use crate::format::lagos_time;
use clap::Args;
use domain::AccountId;
use engine::operators::AuditEntry;
use serde::Serialize;
use serde_json::value::RawValue;

pub(super) const AFTER_HELP: &str = "WHO is the system's user behind a command (cli:ada), a node, or the token of a \
    customer who requested a sender ID (api:3f2a). WHAT is the command with dots between its words. Entries cannot be \
    changed or removed. They hold no token, secret or whole number.

\
    Examples: ogene audit
          ogene audit --account 1882399170363392 --limit 20";

#[derive(Args)]
pub(super) struct Audit {
    /// Only entries of this account
    #[arg(long, value_name = "ID", value_parser = account_id)]
    account: Option<AccountId>,
    #[command(flatten)]
    page: PageArgs,
}

impl Audit {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        let read = async |request| operations.audit().list(self.account, &request).await;
        self.page.print(context, COLUMNS, read, listed).await
    }
}

const COLUMNS: [&str; 8] = [
    "NUMBER", "AT", "WHO", "WHAT", "USER_ID", "OBJECT", "BEFORE", "AFTER",
];

fn listed(entry: &AuditEntry) -> Result<Row<8>, Failure> {
    let entry = EntryJson::read(entry)?;
    let or_dash = |text: &str| match text {
        "" | "null" => "-".to_owned(),
        text => text.to_owned(),
    };
    let cells = [
        entry.number.to_string(),
        entry.at.clone(),
        entry.who.to_owned(),
        entry.what.to_owned(),
        or_dash(entry.user_id.as_deref().unwrap_or_default()),
        or_dash(entry.object),
        or_dash(entry.before.get()),
        or_dash(entry.after.get()),
    ];
    Row::new(&entry, cells)
}

#[derive(Serialize)]
struct EntryJson<'a> {
    number: i64,
    at: String,
    who: &'a str,
    what: &'a str,
    user_id: Option<String>,
    object: &'a str,
    before: &'a RawValue,
    after: &'a RawValue,
}

impl<'a> EntryJson<'a> {
    fn read(entry: &'a AuditEntry) -> Result<Self, serde_json::Error> {
        Ok(Self {
            number: entry.number,
            at: lagos_time(entry.at_ms),
            who: &entry.actor,
            what: &entry.verb,
            user_id: entry.account_id.map(|id| id.to_string()),
            object: &entry.object,
            before: serde_json::from_str(&entry.before)?,
            after: serde_json::from_str(&entry.after)?,
        })
    }
}
