//! A refused request of the API.

use crate::Shell;
use crate::parts::Badge;
use askama::Template;

/// A refused request: the reason, its facts, and a command that makes it again.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "request.html")]
pub struct Request {
    /// The frame.
    pub shell: Shell,
    /// The address of the list that it is in.
    pub back: String,
    /// The status and the code.
    pub status: Badge,
    /// The message of the answer, which names the remedy.
    pub message: String,
    /// Facts, by name.
    pub facts: Vec<(String, String)>,
    /// The command.
    pub curl: String,
    /// The same command in the sandbox. An old version of the interface has no sandbox.
    pub sandbox: Option<String>,
}
