//! A key figure: a label, a number and a note.

use super::badge::Tone;
use askama::Template;

/// A key figure. Figures stand in a list: `<ul class="figures">`, one in each `<li>`.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/figure.html")]
pub struct Figure {
    /// The name of the number.
    pub label: String,
    /// The number, formatted by [`crate::figures`].
    pub value: String,
    /// A note below it, such as the share of a whole.
    pub note: String,
    /// The weight of the note.
    pub tone: Tone,
    /// The screen that shows the number's details.
    pub href: Option<String>,
    /// The state of a figure that selects the chart below: `true` marks it as current.
    pub is_current: bool,
}

impl Figure {
    /// Returns a figure without a note and a link.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            value: value.into(),
            note: String::new(),
            tone: Tone::Plain,
            href: None,
            is_current: false,
        }
    }

    /// Adds a note.
    #[must_use]
    pub fn note(self, tone: Tone, note: impl Into<String>) -> Self {
        let note = note.into();
        Self { note, tone, ..self }
    }

    /// Adds a link.
    #[must_use]
    pub fn href(self, href: impl Into<String>) -> Self {
        let href = Some(href.into());
        Self { href, ..self }
    }

    /// Returns the value before its decimals, and the decimals, which are shown smaller.
    fn split(&self) -> (&str, &str) {
        let point = self.value.rfind('.').unwrap_or(self.value.len());
        self.value.split_at(point)
    }

    /// Marks the figure whose chart is shown.
    #[must_use]
    pub fn current(self, is_current: bool) -> Self {
        Self { is_current, ..self }
    }
}
