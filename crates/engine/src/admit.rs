//! The first stage: decides whether a caller may send, and how much.

pub(crate) mod admission;
pub(crate) mod bound_users;
pub(crate) mod callers;
mod content;
pub(crate) mod keys;
pub(crate) mod left_out;
pub(crate) mod rate;
mod reservations;
pub(crate) mod sandbox;
pub(crate) mod velocity;
