//! SQLite under sqlx's traits, where a statement is a function call.
//!
//! sqlx's own driver gives each connection a thread, and hands over each statement, and each row that it
//! returns, from thread to thread: more time than the statements take (decision 0010). Here a statement runs
//! where it is awaited. The writer has a thread of its own (`writer.rs`); those who read step aside for other
//! tasks while they do.

mod connection;
mod failure;
mod migrate;
mod options;
mod row;
mod value;

pub use connection::Connection;
pub(crate) use failure::is_unsynced;
pub(crate) use options::Options;
pub use value::Values;

use connection::{Done, Transactions};
use row::{Column, Row, Statement};
use value::{Kind, Owned, Value};

/// Readers beside the writer.
pub(crate) type Readers = sqlx::Pool<Sqlite>;

/// The embedded database.
#[derive(Debug)]
pub struct Sqlite;

impl sqlx::Database for Sqlite {
    type Connection = Connection;
    type TransactionManager = Transactions;
    type Row = Row;
    type QueryResult = Done;
    type Column = Column;
    type TypeInfo = Kind;
    type Value = Owned;
    type ValueRef<'r> = Value<'r>;
    type Arguments = Values;
    type ArgumentBuffer = Values;
    type Statement = Statement;

    const NAME: &'static str = "SQLite";
    const URL_SCHEMES: &'static [&'static str] = &[];
}
