//! A list of things, such as tokens or accounts.

use crate::Shell;
use crate::parts::{Empty, Field, Figure, Pager, Table, Tabs};
use askama::Template;

/// A list: key figures, views, filters and rows.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "listing.html")]
pub struct Listing {
    /// The frame.
    pub shell: Shell,
    /// A sentence below the title, or nothing.
    pub lead: String,
    /// The names and addresses of next steps. The first is the main one.
    pub actions: Vec<(String, String)>,
    /// Key figures above the rows.
    pub figures: Vec<Figure>,
    /// Views of the list.
    pub tabs: Option<Tabs>,
    /// Filters, which a form sends by GET.
    pub filters: Vec<Field>,
    /// The address of the list without filters.
    pub href: String,
    /// The rows.
    pub table: Table,
    /// The state without rows.
    pub empty: Empty,
    /// The way to further rows.
    pub pager: Pager,
    /// The address that brings figures and rows up to date while the screen is open.
    pub refresh: Option<String>,
    /// A secret that is shown once: its name and its value.
    pub secret: Option<(String, String)>,
}

impl Listing {
    /// Returns a list without figures, views, filters and next steps.
    pub fn new(shell: Shell, table: Table, empty: Empty) -> Self {
        Self {
            href: shell.section.path().to_owned(),
            shell,
            lead: String::new(),
            actions: Vec::new(),
            figures: Vec::new(),
            tabs: None,
            filters: Vec::new(),
            table,
            empty,
            pager: Pager::default(),
            refresh: None,
            secret: None,
        }
    }
}
