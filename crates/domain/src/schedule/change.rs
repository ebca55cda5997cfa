//! Changes of an accepted message by its customer.

use super::state::{MessageState, Progress};
use crate::refusal::Refusal;

/// A requested change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Change {
    /// Unsent recipients end.
    Cancel,
    /// Unsent recipients wait.
    Pause,
    /// Unsent recipients are sent again.
    Resume,
    /// The message gets another due time.
    Reschedule,
}

/// The effect of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    /// The change has no effect, because it was made before.
    Nothing,
    /// The change is made. A cancel ends the recipients that are unsent at its commit.
    Applies,
}

/// Decides on a change. A repeated change has no effect, and a final message only accepts a cancel,
/// which has none. A paused message that is rescheduled stays paused.
pub fn change(progress: &Progress, change: Change, now_ms: i64) -> Result<Effect, Refusal> {
    let state = progress.state(now_ms);
    let is_final = matches!(state, MessageState::Completed | MessageState::Cancelled);
    match change {
        Change::Cancel if is_final || progress.was_cancelled => Ok(Effect::Nothing),
        _ if is_final => Err(Refusal::TooLate(
            "This message has its final state: it cannot be changed any more.",
        )),
        Change::Pause if progress.is_paused => Ok(Effect::Nothing),
        Change::Resume if !progress.is_paused => Ok(Effect::Nothing),
        Change::Reschedule if progress.handed_over > 0 => Err(Refusal::TooLate(
            "Recipients of this message were handed to a carrier already: its time cannot be changed any more. What \
             was not handed over can be paused or cancelled.",
        )),
        Change::Cancel | Change::Pause | Change::Resume | Change::Reschedule => Ok(Effect::Applies),
    }
}
