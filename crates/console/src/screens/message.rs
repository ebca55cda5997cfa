//! A message with its recipients.

use crate::Shell;
use crate::parts::{Badge, Confirm, Empty, Figure, Pager, Tabs};
use askama::Template;

/// A message: its figures, facts and recipients.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "message.html")]
pub struct Message {
    /// The frame.
    pub shell: Shell,
    /// The address of the list that it is in.
    pub back: String,
    /// Changes that the user may make now.
    pub changes: Vec<Confirm>,
    /// Addresses beside the changes, by name: a retry and an export.
    pub links: Vec<(String, String)>,
    /// The part that is brought up to date.
    pub progress: MessageProgress,
    /// The text, or `None` if each recipient has its own or it was removed.
    pub text: Option<String>,
    /// The sentence in place of a text.
    pub no_text: String,
    /// Facts, by name.
    pub facts: Vec<(String, String)>,
    /// The choice of a recipient's status.
    pub tabs: Tabs,
    /// Recipients in the order of the send.
    pub recipients: Vec<RecipientRow>,
    /// The state without recipients.
    pub empty: Empty,
    /// The way to further recipients.
    pub pager: Pager,
}

/// The progress of a message, which is brought up to date while it is sent.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "message_progress.html")]
pub struct MessageProgress {
    /// The address of this part, while the message has recipients without an outcome.
    pub refresh: Option<String>,
    /// The state.
    pub state: Badge,
    /// Recipients by outcome, and money.
    pub figures: Vec<Figure>,
}

/// A recipient in a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientRow {
    /// The address of the recipient's timeline.
    pub href: String,
    /// The number.
    pub recipient: String,
    /// The network.
    pub network: String,
    /// The status.
    pub status: Badge,
    /// The error code, or nothing.
    pub error: String,
    /// The pages.
    pub pages: String,
    /// The charge without what was refunded.
    pub cost: String,
    /// The time of the last change in Unix milliseconds.
    pub at_ms: i64,
}
