//! The form that sends messages, with its counter.

use crate::Shell;
use crate::parts::{Field, Figure, Tone};
use askama::Template;

/// The form that sends messages.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "send.html")]
pub struct Send {
    /// The frame.
    pub shell: Shell,
    /// The reason why the send was refused, if no field is at fault.
    pub error: Option<String>,
    /// The fields: sender, recipients, text, gateway, time, reference.
    pub fields: Vec<Field>,
    /// The counter beside the fields.
    pub counter: Counter,
}

/// The counter: characters, pages, encoding and cost, as they will be billed.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "counter.html")]
pub struct Counter {
    /// Key figures: recipients, pages, cost, balance after.
    pub figures: Vec<Figure>,
    /// Sentences on what is changed, left out or refused, by weight.
    pub notes: Vec<(Tone, String)>,
    /// The text as phones will show it, if it differs from the one that was typed.
    pub prepared: Option<String>,
    /// Networks with their recipients, pages and cost.
    pub networks: Vec<[String; 4]>,
}

impl Counter {
    /// Returns the counter before anything was typed.
    pub fn empty() -> Self {
        let note = "Type a text and a recipient to see the pages and the cost.";
        Self::with_note(Tone::Plain, note.to_owned())
    }

    /// Returns a counter that has no figures, for the reason that the note gives.
    pub fn with_note(tone: Tone, note: String) -> Self {
        Self {
            figures: Vec::new(),
            notes: vec![(tone, note)],
            prepared: None,
            networks: Vec::new(),
        }
    }
}
