//! The wallet: balances and the statement.

use crate::Shell;
use crate::parts::{Empty, Field, Figure, Pager};
use askama::Template;
use domain::user::role::Permission;

/// The wallet: its components, and its entries with the balance after each.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "wallet.html")]
pub struct Wallet {
    /// The frame.
    pub shell: Shell,
    /// The balance of each component, the total first.
    pub balances: Vec<Figure>,
    /// The filters of the statement, which the form sends by GET.
    pub filters: Vec<Field>,
    /// `true` if a filter is set.
    pub is_filtered: bool,
    /// The reason why the filters were refused.
    pub error: Option<String>,
    /// The entries, newest first.
    pub rows: Vec<WalletRow>,
    /// The state without rows.
    pub empty: Empty,
    /// The way to older entries.
    pub pager: Pager,
    /// The address of the CSV file with the same filters.
    pub export: String,
}

impl Wallet {
    /// Returns `true` if the user may pay into the wallet.
    fn may_top_up(&self) -> bool {
        self.shell.role.may(Permission::ManageMoney)
    }
}

/// An entry of the statement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WalletRow {
    /// Its time in Unix milliseconds.
    pub at_ms: i64,
    /// The kind, such as `Refund`.
    pub kind: String,
    /// The recipient or the reference, or nothing.
    pub detail: String,
    /// The address of the message.
    pub href: Option<String>,
    /// The component of the wallet.
    pub component: String,
    /// The amount with its sign.
    pub amount: String,
    /// `true` if the amount adds to the balance.
    pub is_gain: bool,
    /// The balance of the component after the entry.
    pub balance: String,
}
