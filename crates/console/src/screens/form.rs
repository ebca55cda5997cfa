//! A form that makes one change.

use crate::Shell;
use crate::parts::Field;
use askama::Template;

/// A form: its fields, and one button.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "form.html")]
pub struct Form {
    /// The frame. Its title names the change.
    pub shell: Shell,
    /// A sentence below the title, or nothing.
    pub lead: String,
    /// The fields.
    pub fields: Vec<Field>,
    /// The reason why the change was refused, if no field is at fault.
    pub error: Option<String>,
    /// The address that the form posts to.
    pub href: String,
    /// The name of the change, on the button.
    pub action: String,
    /// The address to which the user turns back.
    pub back: String,
}
