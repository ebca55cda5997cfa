//! A table of rows, for lists that need no template of their own.

use super::badge::Badge;
use super::confirm::Confirm;
use askama::Template;

/// A column of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// `true` for numbers, which are aligned to the right.
    pub is_number: bool,
    /// `true` for a column that is left out on a narrow screen.
    pub is_wide: bool,
}

impl Column {
    /// Returns a column of texts.
    pub fn text(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_number: false,
            is_wide: false,
        }
    }

    /// Returns a column of numbers.
    pub fn number(name: &str) -> Self {
        Self {
            is_number: true,
            ..Self::text(name)
        }
    }

    /// Leaves the column out on a narrow screen.
    #[must_use]
    pub fn wide(self) -> Self {
        Self {
            is_wide: true,
            ..self
        }
    }
}

/// A cell of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A text in a fixed-width font: an id, a code.
    Code(String),
    /// A name that leads to a screen, with a note below it.
    Link {
        /// The name.
        name: String,
        /// The address.
        href: String,
        /// The note, or nothing.
        note: String,
    },
    /// A status.
    Status(Badge),
    /// A time in Unix milliseconds.
    Time(i64),
    /// Changes of the row.
    Changes(Vec<Confirm>),
}

impl Cell {
    /// Returns a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a link without a note.
    pub fn link(name: impl Into<String>, href: impl Into<String>) -> Self {
        Self::Link {
            name: name.into(),
            href: href.into(),
            note: String::new(),
        }
    }
}

/// A table. Each row has a cell for each column.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/rows.html")]
pub struct Table {
    /// The name of the table for screen readers.
    pub label: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// The time of the answer in Unix milliseconds.
    pub now_ms: i64,
}
