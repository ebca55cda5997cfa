//! A connection, and the ways to run statements on it.

use crate::bulk::Bulk;
use crate::error::{Error, Result};
use crate::failure::{failure, is_unsynced};
use crate::query::{self, FromRow};
use rusqlite::hooks::Wal;
use std::cell::Cell;
use std::ffi::c_int;
use std::fmt;
use tokio::runtime::{Handle, RuntimeFlavor};

thread_local! {
    /// Pages in the write-ahead log after the last commit on this thread. The hook of SQLite is a
    /// plain function, which cannot store the number in the connection.
    static WAL_PAGES: Cell<u32> = const { Cell::new(0) };
}

/// A connection to a database file.
pub struct SqliteConnection {
    pub(super) raw: rusqlite::Connection,
}

/// Runs blocking work. In a multi-threaded runtime, other threads run the other tasks meanwhile.
pub(super) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}

impl SqliteConnection {
    pub(super) fn new(raw: rusqlite::Connection) -> Self {
        Self { raw }
    }

    /// Runs `begin`, `commit`, `rollback` or a command on a savepoint.
    pub(crate) fn run_transaction_command(&mut self, text: &str) -> Result<()> {
        let made = self.raw.prepare_cached(text);
        let made = made.and_then(|mut statement| statement.raw_execute());
        made.map_err(failure)?;
        Ok(())
    }

    /// Turns off the automatic checkpoints of SQLite, which do not report a failed sync.
    /// [`Self::checkpoint`] replaces them.
    pub(crate) fn disable_auto_checkpoint(&mut self) -> Result<()> {
        self.raw.wal_hook(Some(record_wal_pages)).map_err(failure)?;
        Ok(())
    }

    /// Returns the number of pages in the write-ahead log after the last commit on this thread.
    pub(crate) fn wal_pages() -> u32 {
        WAL_PAGES.get()
    }

    /// Copies the pages of the write-ahead log into the database file. Only a failed sync is an
    /// error. After any other failure the log still holds the pages, and a later checkpoint copies
    /// them.
    pub(crate) fn checkpoint(&self) -> Result<()> {
        let made = self.raw.query_row("pragma wal_checkpoint", (), |_| Ok(()));
        match made.map_err(failure) {
            Err(error) if is_unsynced(&error) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Keeps the file from growing, or lets it grow again.
    #[cfg(feature = "test-support")]
    pub(crate) fn limit_growth(&mut self, is_full: bool) -> Result<()> {
        let pages = if is_full {
            let count = self
                .raw
                .pragma_query_value(None, "page_count", |row| row.get(0));
            count.map_err(failure)?
        } else {
            i64::from(u32::MAX - 1)
        };
        let set = self.raw.pragma_update(None, "max_page_count", pages);
        Ok(set.map_err(failure)?)
    }

    /// Runs a text of one or many statements without parameters.
    pub(crate) fn execute_script(&mut self, text: &str) -> Result<()> {
        Ok(blocking(|| self.raw.execute_batch(text)).map_err(failure)?)
    }

    /// Runs a statement; returns how many rows it changed.
    pub(crate) fn execute(&mut self, sql: &str, values: &[query::Value<'_>]) -> Result<u64> {
        let run = || {
            let mut statement = self.raw.prepare_cached(sql)?;
            let positions = positions(&statement);
            bind(&mut statement, &positions, values, &[])?;
            if statement.column_count() == 0 {
                return Ok(statement.raw_execute()? as u64);
            }
            let mut rows = statement.raw_query();
            while rows.next()?.is_some() {}
            drop(rows);
            drop(statement);
            Ok(self.raw.changes())
        };
        Ok(blocking(run).map_err(failure)?)
    }

    /// Returns the first row of a statement that always has one.
    pub(crate) fn fetch_one<T: FromRow>(
        &mut self,
        sql: &str,
        values: &[query::Value<'_>],
    ) -> Result<T> {
        let found = self.fetch(sql, values, 1)?;
        found.into_iter().next().ok_or(Error::NoRow)
    }

    /// Returns at most the given number of rows of a statement.
    pub(crate) fn fetch<T: FromRow>(
        &mut self,
        sql: &str,
        values: &[query::Value<'_>],
        max_rows: usize,
    ) -> Result<Vec<T>> {
        self.fetch_with(sql, values, max_rows, T::from_row)
    }

    /// Returns at most the given number of rows of a statement, each converted by `read`.
    pub(crate) fn fetch_with<T>(
        &mut self,
        sql: &str,
        values: &[query::Value<'_>],
        max_rows: usize,
        mut read: impl FnMut(&query::Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        blocking(|| {
            let mut statement = self.raw.prepare_cached(sql).map_err(failure)?;
            let positions = positions(&statement);
            bind(&mut statement, &positions, values, &[]).map_err(failure)?;
            let mut rows = statement.raw_query();
            let mut found = Vec::new();
            while found.len() < max_rows
                && let Some(row) = rows.next().map_err(failure)?
            {
                found.push(read(&query::Row::Sqlite(row))?);
            }
            Ok(found)
        })
    }

    /// Binds the values of each row to one statement in turn, and calls `run` to execute it.
    pub(crate) fn execute_each(
        &mut self,
        bulk: &Bulk<'_>,
        mut run: impl FnMut(&mut rusqlite::CachedStatement<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let (sql, rows, rest) = bulk.each_row();
        let run_all = || {
            let mut statement = self.raw.prepare_cached(sql)?;
            let positions = positions(&statement);
            for row in rows {
                bind(&mut statement, &positions, row, rest)?;
                run(&mut statement)?;
            }
            Ok(())
        };
        Ok(blocking(run_all).map_err(failure)?)
    }

    /// Runs one statement with the values of each row in turn, and returns all rows that it yields.
    pub(crate) fn fetch_each<T: FromRow>(&mut self, bulk: &Bulk<'_>) -> Result<Vec<T>> {
        let (sql, rows, rest) = bulk.each_row();
        blocking(|| {
            let mut found = Vec::new();
            let mut statement = self.raw.prepare_cached(sql).map_err(failure)?;
            let positions = positions(&statement);
            for row in rows {
                bind(&mut statement, &positions, row, rest).map_err(failure)?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next().map_err(failure)? {
                    found.push(T::from_row(&query::Row::Sqlite(row))?);
                }
            }
            Ok(found)
        })
    }

    /// Returns `true` outside a transaction.
    pub(crate) fn is_outside_transaction(&self) -> bool {
        self.raw.is_autocommit()
    }

    /// Closes the connection.
    pub(crate) fn close(self) -> Result<()> {
        let closed = blocking(|| self.raw.close().map_err(|(_, error)| error));
        Ok(closed.map_err(failure)?)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is the hook of the write-ahead log"
)]
fn record_wal_pages(_: &mut Wal, pages: c_int) -> rusqlite::Result<()> {
    WAL_PAGES.set(pages.unsigned_abs());
    Ok(())
}

/// Returns, for each parameter of a statement, the position of its value. SQLite treats `$1` as a
/// name, and counts names in the order of their first use.
fn positions(statement: &rusqlite::CachedStatement<'_>) -> Vec<usize> {
    let position = |parameter| {
        let name = statement.parameter_name(parameter);
        let number: Option<usize> = name.and_then(|name| name.get(1..)?.parse().ok());
        number.unwrap_or(parameter) - 1
    };
    (1..=statement.parameter_count()).map(position).collect()
}

/// Binds the values of a row, and the values that are the same for all rows, at their positions.
fn bind(
    statement: &mut rusqlite::CachedStatement<'_>,
    positions: &[usize],
    values: &[query::Value<'_>],
    rest: &[query::Value<'_>],
) -> rusqlite::Result<()> {
    for (parameter, &position) in (1..).zip(positions) {
        let value = values
            .get(position)
            .or_else(|| rest.get(position.checked_sub(values.len())?));
        statement.raw_bind_parameter(parameter, value)?;
    }
    Ok(())
}

impl fmt::Debug for SqliteConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SqliteConnection")
            .finish_non_exhaustive()
    }
}
