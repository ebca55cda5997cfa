//! SQLite, where a statement is a function call.
//!
//! A statement runs on the thread that awaits it (decision 0010). The writer has a thread of its
//! own. While a worker reads, another thread runs its other tasks.

pub(crate) mod connection;
pub mod copy;
pub(crate) mod files;
pub(crate) mod open;
pub(crate) mod options;
pub(crate) mod reader_pool;
