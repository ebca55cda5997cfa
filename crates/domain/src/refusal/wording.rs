//! The words of values in the texts of refusals.

use crate::token::scope::{Scope, Scopes};
use std::fmt;

/// The kinds that the sandbox limits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Simulated {
    /// Recipients.
    Recipients,
    /// Recipients with a callback.
    Callbacks,
}

impl fmt::Display for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recipients => "recipients",
            Self::Callbacks => "recipients with a `callback_url`",
        })
    }
}

/// Formats a number of bytes in the largest unit that divides it.
pub(super) fn size(bytes: usize) -> String {
    let units = [("MiB", 1 << 20), ("KiB", 1 << 10)];
    let whole = units.iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    let (name, unit) = whole.unwrap_or(&("bytes", 1));
    format!("{} {name}", bytes / unit)
}

/// Formats scopes of which one is needed.
pub(super) fn scopes(scopes: Scopes) -> String {
    let names: Vec<String> = scopes
        .iter()
        .map(Scope::as_str)
        .map(|name| format!("`{name}`"))
        .collect();
    names.join(" or ")
}
