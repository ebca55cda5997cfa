//! SQLite, where a statement is a function call.
//!
//! A statement runs where it is awaited (decision 0010). The writer has a thread of its own; those who read step aside
//! for other tasks while they do.

mod connection;
mod failure;
mod options;
mod readers;

pub use connection::Connection;
pub use failure::SqliteFailure;
pub(crate) use failure::{failure, is_unsynced};
pub(crate) use options::Options;
pub use readers::{PooledReader, Readers};
