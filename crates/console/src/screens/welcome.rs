//! A screen with facts, for an overview without further content.

use crate::Shell;
use askama::Template;

/// A screen with a sentence and facts.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "welcome.html")]
pub struct Welcome {
    /// The frame.
    pub shell: Shell,
    /// The sentence.
    pub text: String,
    /// The facts.
    pub facts: Vec<(String, String)>,
}
