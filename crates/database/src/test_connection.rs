//! A connection for tests. It runs any SQL, without the checks of this crate.

use rusqlite::types::FromSql;
use sqlx::postgres::{PgConnection, Postgres};
use sqlx::{AssertSqlSafe, Connection, Row};
use std::path::Path;
use std::time::Duration;

/// The time for which a statement waits for SQLite's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// A failure of the database.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A value of a column.
pub trait Cell:
    FromSql + Send + Unpin + for<'r> sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>
{
}
impl Cell for i64 {}
impl Cell for String {}

/// An open connection to either database.
#[derive(Debug)]
pub enum TestConnection {
    /// SQLite.
    Sqlite(rusqlite::Connection),
    /// PostgreSQL, with the settings of the server.
    Postgres(PgConnection),
}

impl TestConnection {
    /// Opens a file.
    pub fn sqlite(file: &Path) -> Result<Self> {
        let connection = rusqlite::Connection::open(file)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(Self::Sqlite(connection))
    }

    /// Connects to a server.
    pub async fn postgres(url: &str) -> Result<Self> {
        Ok(Self::Postgres(PgConnection::connect(url).await?))
    }

    /// Lets statements on SQLite fail at once if another process holds the lock.
    pub fn fail_if_locked(&self) -> Result<()> {
        if let Self::Sqlite(connection) = self {
            connection.busy_timeout(Duration::ZERO)?;
        }
        Ok(())
    }

    /// Runs statements.
    pub async fn run(&mut self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(sql)?,
            Self::Postgres(connection) => {
                let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
                sql.execute(connection).await?;
            }
        }
        Ok(())
    }

    /// Returns the last column of a query. Placeholders have no value.
    pub async fn column<T: Cell>(&mut self, sql: &str) -> Result<Vec<T>> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(sql)?;
                let last = statement.column_count().saturating_sub(1);
                let rows = statement.raw_query().mapped(|row| row.get(last));
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            }
            Self::Postgres(connection) => {
                // The simple protocol explains a statement whose placeholders have no value.
                let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
                let rows = sql.fetch_all(connection).await?;
                let cells = rows.iter().map(|row| row.try_get(row.len() - 1));
                Ok(cells.collect::<sqlx::Result<_>>()?)
            }
        }
    }

    /// Closes the connection.
    pub async fn close(self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.close().map_err(|(_, error)| error.into()),
            Self::Postgres(connection) => Ok(connection.close().await?),
        }
    }
}
