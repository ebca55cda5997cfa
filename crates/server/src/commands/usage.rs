//! `ogene usage`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::list::{PageArgs, Row};
use super::queries::{Scope, Times};
use crate::http::UsageItem;
use clap::Args;
use clap::builder::PossibleValuesParser;
use domain::search::{FilterFields, UsageBy};
use engine::Usage as Group;

pub(super) const AFTER_HELP: &str = "Hours and days are those of Africa/Lagos, the newest first. A message counts in each group that it \
    touches. COST is before refunds. A time is RFC 3339, or YYYY-MM-DD HH:MM:SS in Africa/Lagos.\n\n\
    Examples: ogene usage --account 1882399170363392 --by day\n          \
    ogene usage --by network --since \"2027-01-01 00:00:00\" --until \"2027-02-01 00:00:00\"";

#[derive(Args)]
pub(super) struct Usage {
    #[command(flatten)]
    scope: Scope,
    /// The groups
    #[arg(long, default_value = "day",
        value_parser = PossibleValuesParser::new(UsageBy::ALL.iter().map(|by| by.as_str())))]
    by: String,
    #[command(flatten)]
    times: Times,
    #[command(flatten)]
    page: PageArgs,
}

impl Usage {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let queries = context.queries().await?;
        let fields = FilterFields {
            by: Some(self.by),
            ..self.times.fields()
        };
        let scope = self.scope.of();
        let read = async |request| queries.usage(scope, &fields, &request).await;
        self.page.print(context, COLUMNS, read, row).await
    }
}

const COLUMNS: [&str; 9] = [
    "KEY",
    "MESSAGES",
    "RECIPIENTS",
    "DELIVERED",
    "FAILED",
    "PENDING",
    "PAGES",
    "COST",
    "REFUNDED",
];

fn row(group: &Group) -> Result<Row<9>, Failure> {
    let cells = [
        group.key.clone(),
        group.messages.to_string(),
        group.recipients.to_string(),
        group.delivered.to_string(),
        group.failed.to_string(),
        group.pending.to_string(),
        group.pages.to_string(),
        group.cost.to_string(),
        group.refunded.to_string(),
    ];
    Row::new(&UsageItem::new(group.clone()), cells)
}
