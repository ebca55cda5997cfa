//! The generic screen of one object, such as an account: its facts, changes and lists.

use crate::Shell;
use crate::parts::{Confirm, Empty, Field, Figure, Kind, Table};
use askama::Template;

/// The screen of an object: key figures, facts, and sections with a list or a form each.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "details.html")]
pub struct Details {
    /// The frame.
    pub shell: Shell,
    /// The name and the address of the list that it is in.
    pub back: (String, String),
    /// Changes that the user may make now.
    pub changes: Vec<Confirm>,
    /// Key figures.
    pub figures: Vec<Figure>,
    /// Facts, by name.
    pub facts: Vec<(String, String)>,
    /// Sections below the facts.
    pub sections: Vec<Part>,
    /// The address from which everything but the forms is read again, if it is live.
    pub refresh: Option<String>,
}

/// A section: a list, a form or both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part {
    /// The heading.
    pub title: String,
    /// A sentence below the heading, or nothing.
    pub lead: String,
    /// The rows.
    pub table: Option<Table>,
    /// The state without rows.
    pub empty: Option<Empty>,
    /// A form that makes a change.
    pub form: Option<SmallForm>,
}

impl Part {
    /// Returns a section with a form, and without rows.
    pub fn form(title: &str, lead: &str, form: SmallForm) -> Self {
        Self {
            title: title.to_owned(),
            lead: lead.to_owned(),
            table: None,
            empty: None,
            form: Some(form),
        }
    }
}

/// A form in a section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SmallForm {
    /// The address that it posts to.
    pub href: String,
    /// The fields.
    pub fields: Vec<Field>,
    /// The name of the change, on the button.
    pub action: String,
}

impl SmallForm {
    /// Returns `true` if the form sends a file, whose token stands in the address.
    fn is_upload(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| matches!(field.kind, Kind::File(_)))
    }
}
