//! Revenue by month, for operators.

use crate::Shell;
use crate::chart::Chart;
use crate::parts::{Empty, Field, Figure, Table};
use askama::Template;

/// Revenue by month: figures of the last month, a chart, and tables.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "revenue.html")]
pub struct Revenue {
    /// The frame.
    pub shell: Shell,
    /// The meaning of the numbers.
    pub lead: String,
    /// The choice of months, with which the form adds up again.
    pub fields: Vec<Field>,
    /// The address that the form posts to.
    pub href: String,
    /// The numbers, once they are added up.
    pub counted: Option<Counted>,
    /// The state without numbers: they are being added up, or that failed.
    pub empty: Empty,
    /// The address that answers whether the numbers are there, while they are being added up.
    pub refresh: Option<String>,
}

/// The numbers of a revenue report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Counted {
    /// The time of the addition, and the address of the CSV file.
    pub export: (String, String),
    /// Key figures of the last month.
    pub figures: Vec<Figure>,
    /// The months as a chart.
    pub chart: Chart,
    /// The money that came into wallets, by month, newest first.
    pub money_in: Table,
    /// The money that left wallets for messages, by month, newest first.
    pub revenue: Table,
    /// The month of the accounts.
    pub title: String,
    /// The accounts of the last month.
    pub accounts: Table,
    /// The state without accounts.
    pub no_accounts: Empty,
}
