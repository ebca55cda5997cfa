//! Views of one screen beside each other.

use askama::Template;

/// A view of a screen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tab {
    /// Its name.
    pub name: String,
    /// Its address.
    pub href: String,
    /// `true` for the view that is shown.
    pub is_current: bool,
}

/// Views of one screen. Each is a link, so each has an address.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/tabs.html")]
pub struct Tabs {
    /// The name of the choice, such as `Period`.
    pub label: String,
    /// The views.
    pub tabs: Vec<Tab>,
}

impl Tabs {
    /// Returns tabs from names and addresses. The tab whose name is `current` is shown.
    pub fn new(label: &str, current: &str, tabs: &[(&str, &str)]) -> Self {
        let tab = |(name, href): &(&str, &str)| Tab {
            name: (*name).to_owned(),
            href: (*href).to_owned(),
            is_current: *name == current,
        };
        Self {
            label: label.to_owned(),
            tabs: tabs.iter().map(tab).collect(),
        }
    }
}
