//! The state of a list that has no rows.

use askama::Template;

/// The state of a list without rows: a title, the reason, and the next step.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/empty.html")]
pub struct Empty {
    /// The title, such as `No messages yet`.
    pub title: String,
    /// The reason, or the benefit of the next step.
    pub text: String,
    /// The name and path of the next step.
    pub action: Option<(String, String)>,
}

impl Empty {
    /// Returns a state without a next step.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: text.into(),
            action: None,
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn action(self, name: impl Into<String>, href: impl Into<String>) -> Self {
        let action = Some((name.into(), href.into()));
        Self { action, ..self }
    }
}
