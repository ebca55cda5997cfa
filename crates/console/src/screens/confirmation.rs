//! The screen on which a change with many consequences is confirmed.

use crate::Shell;
use crate::parts::Field;
use askama::Template;

/// The screen on which a change is confirmed: its facts, and one button.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "confirmation.html")]
pub struct Confirmation {
    /// The frame. Its title is the question.
    pub shell: Shell,
    /// The consequence, and the way back if there is one.
    pub text: String,
    /// Facts of the change, such as the number of recipients and the cost.
    pub facts: Vec<(String, String)>,
    /// Fields that the change needs, such as a reason.
    pub fields: Vec<Field>,
    /// Hidden fields.
    pub hidden: Vec<(String, String)>,
    /// The address that the form posts to.
    pub href: String,
    /// The name of the change, on the button.
    pub action: String,
    /// The address to which the user turns back.
    pub back: String,
    /// `true` if the change cannot be undone.
    pub is_dangerous: bool,
}
