//! The first stage: whether a caller may send, and this much.

pub(crate) mod admission;
pub(crate) mod callers;
mod content;
pub(crate) mod rate;
mod reservations;
pub(crate) mod sandbox;
pub(crate) mod velocity;
