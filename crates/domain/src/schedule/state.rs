//! The state of a message, which follows from counts and times.

use crate::named_enum;

named_enum! {
    /// The state of a message.
    pub enum MessageState {
        /// Nothing was handed to a carrier, as its time has not come.
        Scheduled = "scheduled",
        /// Some recipients have no outcome yet.
        Sending = "sending",
        /// Recipients that were not handed to a carrier wait for a resume.
        Paused = "paused",
        /// All recipients have an outcome.
        Completed = "completed",
        /// All recipients were cancelled.
        Cancelled = "cancelled",
    }
}

/// The progress of a message, from which its state follows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// Recipients of the message.
    pub recipients: i64,
    /// Recipients that were handed to a carrier at least once.
    pub handed_over: i64,
    /// Recipients with an outcome, the cancelled ones included.
    pub ended: i64,
    /// Recipients that were cancelled.
    pub cancelled: i64,
    /// The moment at which the message is due, Unix milliseconds.
    pub due_at_ms: i64,
    /// `true` if it is paused.
    pub is_paused: bool,
}

impl Progress {
    /// The state at a moment.
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
