//! The commands of callers to a session.

use super::event::Submit;
use crate::status::CommandStatus;

/// The part of the inbox that the task takes at a time.
#[derive(Debug, Default)]
pub(super) struct Commands {
    pub(super) submits: Vec<Submit>,
    pub(super) answers: Vec<(u32, CommandStatus)>,
    pub(super) unbind: bool,
}
