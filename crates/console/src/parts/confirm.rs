//! A change that is made only after a second click.

use askama::Template;

/// A button that opens a dialog, and the form in the dialog that makes the change. It works without
/// script.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/confirm.html")]
pub struct Confirm {
    /// The id of the dialog, unique on the screen.
    pub id: String,
    /// The name of the change, on both buttons: `Revoke token`.
    pub action: String,
    /// The question: `Revoke the token “Website”?`
    pub title: String,
    /// The consequence, and the way back if there is one.
    pub text: String,
    /// The address that the form posts to.
    pub href: String,
    /// The token of the form.
    pub csrf_token: String,
    /// Further hidden fields.
    pub hidden: Vec<(String, String)>,
    /// `true` if the change cannot be undone.
    pub is_dangerous: bool,
}
