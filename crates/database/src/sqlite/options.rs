//! Options for opening a database file.

use super::connection::{SqliteConnection, blocking};
use crate::error::Result;
use crate::failure::failure;
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum time for which another process (a command) may hold the write lock.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Prepared statements that a connection keeps. A statement over a set exists once for each of some
/// lengths.
const STATEMENTS: usize = 1_000;

/// The options for opening a database file, and its pragmas.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    file: PathBuf,
    flags: OpenFlags,
    busy: Duration,
    pragmas: Vec<(&'static str, &'static str)>,
}

impl Options {
    /// Returns options that open an existing file for reading and writing.
    pub(crate) fn new(file: &Path, busy: Duration) -> Self {
        Self {
            file: file.to_owned(),
            // One thread at a time uses a connection, but the thread may change.
            flags: OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            busy,
            pragmas: vec![("foreign_keys", "on")],
        }
    }

    /// Returns options that open or make a database in memory. It has no log: a rollback also
    /// restores from memory.
    #[cfg(feature = "test-support")]
    pub(crate) fn in_memory(name: &str) -> Self {
        let file = PathBuf::from(format!("file:/{name}?vfs=memdb"));
        let mut options = Self::new(&file, Duration::ZERO).create();
        options.flags |= OpenFlags::SQLITE_OPEN_URI;
        options
            .pragma("journal_mode", "memory")
            .pragma("temp_store", "memory")
    }

    /// Makes the file if it is missing.
    pub(crate) fn create(mut self) -> Self {
        self.flags |= OpenFlags::SQLITE_OPEN_CREATE;
        self
    }

    pub(crate) fn read_only(mut self) -> Self {
        self.flags
            .remove(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE);
        self.flags |= OpenFlags::SQLITE_OPEN_READ_ONLY;
        self
    }

    /// Sets a pragma. The last value of a name counts.
    pub(crate) fn pragma(mut self, name: &'static str, value: &'static str) -> Self {
        self.pragmas.retain(|(set, _)| *set != name);
        self.pragmas.push((name, value));
        self
    }

    /// Opens the file.
    pub(crate) fn connect(&self) -> Result<SqliteConnection> {
        let opened = blocking(|| self.raw());
        Ok(SqliteConnection::new(opened.map_err(failure)?))
    }

    fn raw(&self) -> rusqlite::Result<rusqlite::Connection> {
        let raw = rusqlite::Connection::open_with_flags(&self.file, self.flags)?;
        raw.busy_timeout(self.busy)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS);
        // The plan of a statement must not depend on its values. Otherwise SQLite prepares a
        // statement again whenever a value that it examined, such as the one of `limit ?`, is bound
        // anew.
        raw.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        for (name, value) in &self.pragmas {
            raw.execute_batch(&format!("pragma {name} = {value}"))?;
        }
        Ok(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn a_value_bound_anew_does_not_prepare_a_statement_again() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new(&directory.path().join("a.db"), Duration::ZERO).create();
        let raw = options.raw().unwrap();
        raw.execute_batch("create table a (b bigint); create index c on a (b) where b = 3;")
            .unwrap();
        let text = "select b from a where b = ?1 order by b limit ?2";
        let mut statement = raw.prepare(text).unwrap();
        for limit in 1..=3 {
            let mut rows = statement.query([3, limit]).unwrap();
            assert!(rows.next().unwrap().is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
