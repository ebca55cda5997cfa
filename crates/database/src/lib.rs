//! The two databases of Ogene: connections, transactions, and statements over one row or many.
//!
//! One SQL text serves SQLite and PostgreSQL. All changes are transactions ([`Change`]); on SQLite, changes that
//! arrive together share a commit.

mod db;
mod error;
mod memory;
mod outage;
mod sql;
mod sqlite;
mod trust;
mod writer;

pub use db::{
    Change, Db, FILE, Lent, MODE, STARTED, Schema, Server, SqliteTx, Target, Tx, Unusable, copy,
    give_away, is_log_alone, make_file, prepare_directory, sync_directory, take_turn,
};
pub use error::{Error, Result};
pub use memory::{Commit, Disk, Verdict};
pub use outage::Outage;
pub use sql::{Cell, Columns, Kind, Rows, chunks, with_rows};
pub use sqlite::{Connection, Values};
#[doc(hidden)]
pub use sqlx;
pub use trust::{TrustError, trust};
