//! A recipient of a message with its events.

use crate::Shell;
use crate::parts::{Badge, Tone};
use askama::Template;

/// A recipient: its facts, and its events in order.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "recipient.html")]
pub struct Recipient {
    /// The frame.
    pub shell: Shell,
    /// The address of the message.
    pub back: String,
    /// The status.
    pub status: Badge,
    /// The explanation of the status in a sentence.
    pub explanation: String,
    /// Facts, by name.
    pub facts: Vec<(String, String)>,
    /// The text that this recipient was sent.
    pub text: Option<String>,
    /// Events, oldest first.
    pub events: Vec<TimelineEvent>,
}

/// An event of a recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TimelineEvent {
    /// Its time in Unix milliseconds.
    pub at_ms: i64,
    /// Its weight.
    pub tone: Tone,
    /// Its name.
    pub title: String,
    /// Its detail in a sentence, or nothing.
    pub detail: String,
    /// The octets of the carrier or receiver as they came, or nothing.
    pub raw: String,
}
