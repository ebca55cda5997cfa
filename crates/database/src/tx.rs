//! Transactions, and the statements that they run.

use crate::bulk::Bulk;
use crate::citus::Placement;
use crate::error::{Error, Result};
use crate::postgres::pooled::Pooled;
use crate::query::{FromRow, Query, Row, query};
use crate::sqlite::connection::SqliteConnection;
use crate::sqlite::reader_pool::PooledReader;
use sqlx::PgConnection;
use sqlx::postgres::PgRow;
use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

/// Timeout of a transaction or a query. A connection that takes longer is treated as lost.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);

/// A connection in a transaction, or one that only reads.
pub enum Tx {
    /// SQLite.
    Sqlite(Box<SqliteTx>),
    /// PostgreSQL.
    Postgres(Pooled),
}

/// SQLite's connection: the writer's own, or one of a reader.
pub enum SqliteTx {
    /// The connection of the writer.
    Writer(SqliteConnection),
    /// The connection of a reader.
    Reader(PooledReader),
}

impl std::ops::Deref for SqliteTx {
    type Target = SqliteConnection;
    fn deref(&self) -> &SqliteConnection {
        match self {
            Self::Writer(connection) => connection,
            Self::Reader(connection) => connection,
        }
    }
}

impl std::ops::DerefMut for SqliteTx {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Writer(connection) => connection,
            Self::Reader(connection) => connection,
        }
    }
}

impl Tx {
    /// Returns the connection to PostgreSQL, or an error on SQLite.
    pub fn postgres(&mut self) -> Result<&mut PgConnection> {
        match self {
            Self::Postgres(connection) => Ok(connection),
            Self::Sqlite(_) => Err(Error::Closed),
        }
    }

    /// Begins a snapshot: all reads see the database as it is at this moment. It suits large reads.
    pub async fn begin_snapshot(&mut self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.run_transaction_command("begin"),
            Self::Postgres(connection) => {
                let begin = sqlx::raw_sql(
                    "begin isolation level repeatable read, read only;
                 set local enable_seqscan = on; set local enable_hashjoin = on;
                 set local enable_mergejoin = on",
                );
                begin.execute(&mut **connection).await?;
                Ok(())
            }
        }
    }

    /// Ends the snapshot of [`Self::begin_snapshot`].
    pub async fn end_snapshot(&mut self) -> Result<()> {
        self.execute(query("commit")).await.map(drop)
    }

    /// Returns the connection to SQLite, or an error on PostgreSQL.
    pub fn sqlite(&mut self) -> Result<&mut SqliteConnection> {
        match self {
            Self::Sqlite(connection) => Ok(connection),
            Self::Postgres(_) => Err(Error::Closed),
        }
    }

    /// Returns the servers that hold the rows.
    pub(crate) fn placement(&self) -> Placement {
        match self {
            Self::Sqlite(_) => Placement::OneServer,
            Self::Postgres(connection) => connection.placement(),
        }
    }

    /// Runs a statement, and returns how many rows it changed.
    pub async fn execute(&mut self, query: Query<'_>) -> Result<u64> {
        match self {
            Self::Sqlite(connection) => connection.execute(query.text.sqlite(), &query.values),
            Self::Postgres(connection) => {
                let connection: &mut PgConnection = connection;
                let done = query.for_postgres()?.execute(connection).await?;
                Ok(done.rows_affected())
            }
        }
    }

    /// Returns all rows of a statement.
    pub async fn fetch_all<T: FromRow>(&mut self, query: Query<'_>) -> Result<Vec<T>> {
        self.fetch_with(query, T::from_row).await
    }

    /// Returns all rows of a statement, each converted by `read`.
    pub async fn fetch_with<T>(
        &mut self,
        query: Query<'_>,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        match self {
            Self::Sqlite(connection) => {
                connection.fetch_with(query.text.sqlite(), &query.values, usize::MAX, read)
            }
            Self::Postgres(connection) => {
                let connection: &mut PgConnection = connection;
                let rows = query.for_postgres()?.fetch_all(connection).await?;
                rows.iter().map(|row| read(&Row::Postgres(row))).collect()
            }
        }
    }

    /// Returns the first row of a statement, if it has one.
    pub async fn fetch_optional<T: FromRow>(&mut self, query: Query<'_>) -> Result<Option<T>> {
        match self {
            Self::Sqlite(connection) => {
                let found = connection.fetch(query.text.sqlite(), &query.values, 1)?;
                Ok(found.into_iter().next())
            }
            Self::Postgres(connection) => {
                let connection: &mut PgConnection = connection;
                let row = query.for_postgres()?.fetch_optional(connection).await?;
                row.as_ref().map(from_postgres).transpose()
            }
        }
    }

    /// Returns the first row of a statement that always has one.
    pub async fn fetch_one<T: FromRow>(&mut self, query: Query<'_>) -> Result<T> {
        let found = self.fetch_optional(query).await?;
        found.ok_or(Error::NoRow)
    }

    /// Runs a statement over many rows, and returns how many it changed.
    pub async fn execute_each(&mut self, bulk: Bulk<'_>) -> Result<u64> {
        if let Self::Sqlite(connection) = self {
            let mut changed = 0;
            connection.execute_each(&bulk, |statement| {
                changed += statement.raw_execute()? as u64;
                Ok(())
            })?;
            return Ok(changed);
        }
        let mut changed = 0;
        let placement = self.placement();
        for (statement, _) in bulk.on_postgres(placement) {
            changed += self.execute(statement).await?;
        }
        Ok(changed)
    }

    /// Runs a statement that changes at most one row for each of many. For each it returns `true`
    /// if a row was changed. `keys` are the values that `many` returns for them.
    pub async fn changed_each<K: FromRow + Eq + Hash + Send>(
        &mut self,
        bulk: Bulk<'_>,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<Vec<bool>> {
        if let Self::Sqlite(connection) = self {
            let mut changed = Vec::new();
            connection.execute_each(&bulk, |statement| {
                changed.push(statement.raw_execute()? > 0);
                Ok(())
            })?;
            return Ok(changed);
        }
        let keys: Vec<K> = keys.into_iter().collect();
        let mut changed = Vec::with_capacity(keys.len());
        let mut keys = keys.into_iter();
        let placement = self.placement();
        for (statement, rows) in bulk.on_postgres(placement) {
            if rows == 1 {
                changed.push(self.execute(statement).await? > 0);
                keys.next();
                continue;
            }
            let found: Vec<K> = self.fetch_all(statement).await?;
            let mut found: HashSet<K> = found.into_iter().collect();
            changed.extend(keys.by_ref().take(rows).map(|key| found.remove(&key)));
        }
        Ok(changed)
    }

    /// Runs a statement once for each of many keys, and returns the rows. A repeated key may be
    /// found twice.
    pub async fn fetch_each<T: FromRow>(&mut self, bulk: Bulk<'_>) -> Result<Vec<T>> {
        if let Self::Sqlite(connection) = self {
            return connection.fetch_each(&bulk);
        }
        let mut found = Vec::new();
        let placement = self.placement();
        for (statement, _) in bulk.on_postgres(placement) {
            found.append(&mut self.fetch_all(statement).await?);
        }
        Ok(found)
    }
}

fn from_postgres<T: FromRow>(row: &PgRow) -> Result<T> {
    T::from_row(&Row::Postgres(row))
}
