//! The two databases of Ogene: connections, transactions, and statements over one row or many.
//!
//! One SQL text serves SQLite and PostgreSQL. All changes are transactions ([`Change`]). On SQLite,
//! changes that arrive together share a commit.

mod bulk;
mod db;
mod error;
mod memory;
mod migrate;
mod outage;
mod query;
mod sqlite;
mod trust;
mod writer;

pub use bulk::{Bulk, bulk, by_whole_keys, value};
pub use db::{
    Change, Db, FILE, Listener, MODE, Pool, Pooled, STARTED, Server, SqliteTx, Target, Tx,
    Unusable, copy, give_away, is_log_alone, make_file, prepare_directory, sync_directory,
    take_turn,
};
pub use error::{Error, Failure, Result};
pub use memory::{Commit, CommitVerdict, Disk};
pub use migrate::{Migration, Schema};
pub use outage::Outage;
pub use query::{Column, FromRow, Query, Row, Sql, Text, Value, query};
pub use sqlite::{Connection, PooledReader, Readers, SqliteFailure};
pub use trust::{TrustError, trust};
pub use writer::Writer;
