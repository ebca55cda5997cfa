//! The kit of tests on the store: a fresh database, messages to send, and a carrier that answers.
//! Only dev-dependencies may name this crate.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    missing_docs,
    reason = "a test that cannot be set up fails, and its code explains itself"
)]

mod fates;
mod keys;
mod kit;
mod rule_macros;

pub use fates::{DAY, Fate, URL};
pub use keys::{key, keyed, message_key, request_of};
pub use kit::*;
