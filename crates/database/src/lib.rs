//! The two databases of Ogene: connections, transactions, and statements over one row or many.
//!
//! A statement has one SQL text for SQLite and PostgreSQL where both accept it, and otherwise one
//! for each ([`Sql`]). A statement over many rows has a second text for PostgreSQL ([`bulk()`]). All
//! changes are transactions ([`Change`]). On SQLite, changes that arrive together share a commit.

mod bulk;
mod certificate_trust;
mod change;
mod citus;
mod db;
mod error;
mod failure;
mod macros;
#[cfg(feature = "test-support")]
mod memory;
mod migrate;
mod outage;
mod postgres;
mod query;
mod schema;
mod sqlite;
#[cfg(feature = "test-support")]
mod test_connection;
mod tx;
mod writer;

pub use bulk::{Bulk, bulk, by_whole_keys, value};
pub use certificate_trust::{TrustError, trust};
pub use change::Change;
pub use citus::citus_statements;
pub use db::{Db, Target};
pub use error::{Error, Result};
pub use failure::{Failure, SqliteFailure};
#[cfg(feature = "test-support")]
pub use memory::{Commit, CommitVerdict, Disk};
pub use outage::Outage;
pub use postgres::listener::Listener;
pub use postgres::open::STARTED;
pub use postgres::pooled::{Pool, Pooled};
pub use postgres::remedy::Unusable;
pub use postgres::server::Server;
pub use query::{Column, FromRow, Query, Row, Sql, Text, Value, query};
pub use schema::{Migration, Schema};
pub use sqlite::connection::SqliteConnection;
pub use sqlite::copy;
pub use sqlite::files::{
    FILE, MODE, give_to_owner, has_orphaned_log, lock_opening, make as make_file,
    prepare_directory, sync_directory,
};
pub use sqlite::reader_pool::{PooledReader, ReaderPool};
#[cfg(feature = "test-support")]
pub use test_connection::{Cell, TestConnection};
pub use tx::{SqliteTx, Tx};
pub use writer::Writer;
