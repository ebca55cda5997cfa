//! SQLite, where a statement is a function call.
//!
//! A statement runs on the thread that awaits it (decision 0010). The writer has a thread of its
//! own. A worker that reads hands its other tasks over meanwhile.

mod connection;
mod failure;
mod options;
mod readers;

pub use connection::Connection;
pub use failure::SqliteFailure;
pub(crate) use failure::{failure, is_unsynced};
pub(crate) use options::Options;
pub use readers::{PooledReader, Readers};
