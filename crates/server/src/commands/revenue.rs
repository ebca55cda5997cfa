//! `ogene revenue`

use super::answer::{Answer, Failure, table};
use super::context::Context;
use crate::format::Naira;
use clap::Args;
use domain::revenue::MAX_MONTHS;
use engine::operators::{MonthRevenue, SumProgress};
use serde::Serialize;

pub(super) const AFTER_HELP: &str = "Months are those of Africa/Lagos, the oldest first, and the last one is not over. Top-ups are without VAT and bonus. \
    CREDITED are the credits of operators minus their debits. SPENT is after refunds, and FROM_BONUS is the part of it that bonuses \
    paid. MARGINS went to the parents of sub-accounts. REVENUE is SPENT minus both. Costs of carriers are not in it.\n\n\
    The ledger is read day by day. With millions of messages this takes minutes, and the service may run meanwhile.\n\n\
    Example: ogene revenue --months 3 --json";

#[derive(Args)]
pub(super) struct Revenue {
    /// The number of months up to this one, 1 to 24
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u8).range(1..=i64::from(MAX_MONTHS)))]
    months: u8,
}

#[derive(Serialize)]
struct MonthJson {
    month: String,
    top_ups: u64,
    paid_in: Naira,
    vat: Naira,
    credited: Naira,
    bonus: Naira,
    spent: Naira,
    from_bonus: Naira,
    margins: Naira,
    revenue: Naira,
}

impl From<&MonthRevenue> for MonthJson {
    fn from(one: &MonthRevenue) -> Self {
        let total = &one.total;
        Self {
            month: one.month.to_string(),
            top_ups: total.top_ups,
            paid_in: Naira(total.paid_in),
            vat: Naira(total.vat),
            credited: Naira(total.credited),
            bonus: Naira(total.bonus),
            spent: Naira(total.spent),
            from_bonus: Naira(total.from_bonus),
            margins: Naira(total.margins),
            revenue: Naira(total.earned()),
        }
    }
}

#[derive(Serialize)]
struct RevenueJson {
    items: Vec<MonthJson>,
}

const COLUMNS: [&str; 10] = [
    "MONTH",
    "TOP_UPS",
    "PAID_IN",
    "VAT",
    "CREDITED",
    "BONUS",
    "SPENT",
    "FROM_BONUS",
    "MARGINS",
    "REVENUE",
];

impl Revenue {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let operations = context.open().await?;
        let progress = SumProgress::default();
        let revenue = operations.revenue();
        let months = revenue.count(self.months, &progress).await?;
        let rows: Vec<[String; 10]> = months.iter().map(cells).collect();
        let items = months.iter().map(MonthJson::from).collect();
        Answer::new(table(COLUMNS, &rows), &RevenueJson { items })
    }
}

fn cells(one: &MonthRevenue) -> [String; 10] {
    let total = &one.total;
    [
        one.month.to_string(),
        total.top_ups.to_string(),
        total.paid_in.to_string(),
        total.vat.to_string(),
        total.credited.to_string(),
        total.bonus.to_string(),
        total.spent.to_string(),
        total.from_bonus.to_string(),
        total.margins.to_string(),
        total.earned().to_string(),
    ]
}
