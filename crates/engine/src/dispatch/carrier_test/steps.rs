//! The message of a test, its steps and its end.

use crate::context::outcome::Outcome;
use domain::{DeliveryStatus, Recipient};
use std::time::Duration;
use tokio::time::Instant;

/// The message of a test.
#[derive(Clone, Debug)]
pub struct TestMessage {
    /// The recipient.
    pub to: Recipient,
    /// The sender ID.
    pub from: String,
    /// The text, which is sent as it is.
    pub body: String,
    /// Longest wait for the receipt.
    pub wait: Duration,
}

/// A step of a test.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TestStep {
    /// Time since the start of the test.
    pub at: Duration,
    /// The name of the step.
    pub name: &'static str,
    /// The event, in words.
    pub about: String,
}

/// The end of a test.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TestEnd {
    /// `true` if the carrier accepted all pages.
    pub is_accepted: bool,
    /// The carrier's ids of the pages.
    pub ids: Vec<String>,
    /// The final status, if receipts arrived in time.
    pub status: Option<DeliveryStatus>,
}

impl TestEnd {
    /// Returns `true` if nothing speaks against the carrier: it accepted the message, and no
    /// receipt names a failure.
    pub fn is_good(&self) -> bool {
        let status = self.status.unwrap_or(DeliveryStatus::Delivered);
        self.is_accepted && status == DeliveryStatus::Delivered
    }
}

/// The steps of a test, passed on as they happen.
pub(crate) struct Steps<'a> {
    started: Instant,
    note: &'a mut (dyn FnMut(TestStep) + Send),
}

impl<'a> Steps<'a> {
    /// Begins a test.
    pub(super) fn begin(note: &'a mut (dyn FnMut(TestStep) + Send)) -> Self {
        Self {
            started: Instant::now(),
            note,
        }
    }

    /// Passes on a step.
    pub(super) fn add(&mut self, name: &'static str, about: impl Into<String>) {
        (self.note)(TestStep {
            at: self.started.elapsed(),
            name,
            about: about.into(),
        });
    }
}

/// Returns a sentence on the outcome of a submit.
pub(super) fn told(outcome: &Outcome, timeout: Duration) -> String {
    match outcome {
        Outcome::Accepted { message_id } if message_id.is_empty() => {
            "accepted without an id, so no receipt can name the message".to_owned()
        }
        Outcome::Accepted { message_id } => format!("accepted under the id {message_id}"),
        Outcome::Rejected(rejection) => {
            format!("rejected: {}, {}", rejection.label(), rejection.error())
        }
        Outcome::NotSent => "the connection ended before anything was sent".to_owned(),
        Outcome::RefusedTogether => "refused together with other recipients".to_owned(),
        Outcome::Unknown => format!(
            "no answer that tells the outcome within {} s, so the carrier may have the message",
            timeout.as_secs_f32()
        ),
    }
}
