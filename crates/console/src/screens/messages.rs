//! The list of messages, and its search.

use crate::Shell;
use crate::parts::{Badge, Empty, Field, Pager};
use askama::Template;

/// The list of messages with its filters.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "messages.html")]
pub struct Messages {
    /// The frame.
    pub shell: Shell,
    /// The filters, which the form sends by GET.
    pub filters: Vec<Field>,
    /// `true` if a filter is set.
    pub is_filtered: bool,
    /// The reason why the filters were refused.
    pub error: Option<String>,
    /// The messages, newest first.
    pub rows: Vec<MessageRow>,
    /// The state without rows.
    pub empty: Empty,
    /// The way to older messages.
    pub pager: Pager,
    /// The address of the list without filters.
    pub href: String,
    /// The address of the CSV file with the same filters.
    pub export: Option<String>,
}

/// A message in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MessageRow {
    /// The address of the message.
    pub href: String,
    /// The time of acceptance in Unix milliseconds.
    pub at_ms: i64,
    /// The sender ID.
    pub sender: String,
    /// The start of the text, or a word in its place.
    pub text: String,
    /// The account, in the operator's list.
    pub account: Option<String>,
    /// The state.
    pub state: Badge,
    /// The number of recipients.
    pub recipients: String,
    /// The share of delivered recipients.
    pub delivered: String,
    /// The charge without what was refunded.
    pub cost: String,
}

impl Messages {
    fn has_accounts(&self) -> bool {
        self.rows.iter().any(|row| row.account.is_some())
    }
}
