//! The screen of a request that was not answered as asked.

use crate::Theme;
use askama::Template;

/// The screen of a request that failed: the reason, and the way on.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "failure.html")]
pub struct Failure {
    /// The title, such as `This page does not exist`.
    pub title: String,
    /// The reason and the remedy.
    pub text: String,
    /// The id of the request, by which an operator finds it in the log.
    pub request_id: String,
    /// The name and path of the next step.
    pub action: (String, String),
    /// The colours that the user chose.
    pub theme: Theme,
}

impl Failure {
    /// Returns the screen of a status of HTTP. `home` is the user's overview.
    pub fn of_status(status: u16, request_id: &str, home: &str, theme: Theme) -> Self {
        let (title, text) = match status {
            401 => (
                "Your session has ended",
                "Sign in again to go on. Nothing that you saved is lost.",
            ),
            403 => (
                "You may not do this",
                "Your role does not allow it. Ask an owner of the account for another role.",
            ),
            404 => (
                "This page does not exist",
                "The address is wrong, or the thing that it names was removed.",
            ),
            413 => (
                "The upload is too large",
                "Split the file, and upload its parts one after the other.",
            ),
            429 => (
                "There were too many requests",
                "Wait a minute, and try again.",
            ),
            503 => (
                "The service is busy",
                "Nothing was changed. Try again in a few seconds.",
            ),
            _ => (
                "The server failed",
                "The request may have been made. Look for its result before you repeat it.",
            ),
        };
        let action = match status {
            401 => ("Sign in", "/sign-in"),
            _ => ("Go to the overview", home),
        };
        Self {
            title: title.to_owned(),
            text: text.to_owned(),
            request_id: request_id.to_owned(),
            action: (action.0.to_owned(), action.1.to_owned()),
            theme,
        }
    }
}
