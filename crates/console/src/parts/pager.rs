//! The way to the next rows of a list.

use askama::Template;

/// Links to the first and the next rows of a list. A list is paged by cursor, so it has no numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq, Template)]
#[template(path = "parts/pager.html")]
pub struct Pager {
    /// The address of the first rows, if these are not the first.
    pub first: Option<String>,
    /// The address of the next rows, if there are more.
    pub next: Option<String>,
    /// A note on the rows, such as `50 messages`.
    pub note: String,
}
