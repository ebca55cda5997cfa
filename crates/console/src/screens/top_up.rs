//! Top-ups: the form with the price beside it, and one top-up.

use super::send::Counter;
use crate::Shell;
use crate::parts::{Badge, Field, Figure};
use askama::Template;

/// The form of a top-up.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "top_up_form.html")]
pub struct TopUpForm {
    /// The frame.
    pub shell: Shell,
    /// The reason why the top-up was refused.
    pub error: Option<String>,
    /// The fields: the amount, and the provider where there are several.
    pub fields: Vec<Field>,
    /// The price beside the fields, which follows what is typed.
    pub price: Counter,
}

/// One top-up. While it is open, the screen asks for its state, and is loaded again when it changes.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "top_up.html")]
pub struct TopUp {
    /// The frame.
    pub shell: Shell,
    /// The name and the address of the list that it is in.
    pub back: (String, String),
    /// The names and addresses of next steps. The first is the main one.
    pub actions: Vec<(String, String)>,
    /// The state.
    pub state: Badge,
    /// The state in a sentence, with what the customer may do.
    pub text: String,
    /// The address that answers whether the state has changed, while it can change.
    pub refresh: Option<String>,
    /// The amounts.
    pub figures: Vec<Figure>,
    /// Facts, by name.
    pub facts: Vec<(String, String)>,
}
