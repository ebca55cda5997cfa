//! The state of a message, which derives from counts and times.

use crate::named_enum;

named_enum! {
    /// The state of a message.
    pub enum MessageState {
        /// No recipient was submitted, since the message is not due.
        Scheduled = "scheduled",
        /// Some recipients have no final status.
        Sending = "sending",
        /// Unsent recipients wait for a resume.
        Paused = "paused",
        /// All recipients have a final status.
        Completed = "completed",
        /// All recipients were cancelled.
        Cancelled = "cancelled",
    }
}

/// The progress of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// The number of recipients.
    pub recipients: i64,
    /// The number of recipients that were submitted at least once.
    pub handed_over: i64,
    /// The number of recipients with a final status, including cancelled ones.
    pub ended: i64,
    /// The number of cancelled recipients.
    pub cancelled: i64,
    /// The due time, Unix milliseconds.
    pub due_at_ms: i64,
    /// `true` if the message is paused.
    pub is_paused: bool,
    /// `true` if the message was cancelled. Recipients that a carrier had went on.
    pub was_cancelled: bool,
}

impl Progress {
    /// Returns the state at a time.
    pub fn state(&self, now_ms: i64) -> MessageState {
        if self.cancelled >= self.recipients {
            MessageState::Cancelled
        } else if self.ended >= self.recipients {
            MessageState::Completed
        } else if self.is_paused {
            MessageState::Paused
        } else if self.handed_over == 0 && now_ms < self.due_at_ms {
            MessageState::Scheduled
        } else {
            MessageState::Sending
        }
    }
}
