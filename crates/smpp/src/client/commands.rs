//! The commands of callers to a session.

use super::event::Submit;
use crate::status::CommandStatus;

/// Commands that the task has taken from its inbox.
#[derive(Debug, Default)]
pub(super) struct Commands {
    pub(super) submits: Vec<Submit>,
    pub(super) answers: Vec<(u32, CommandStatus)>,
    pub(super) unbind: bool,
}
