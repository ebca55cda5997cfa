//! How a database file is opened.

use super::connection::Connection;
use super::failure::failure;
use rusqlite::OpenFlags;
use sqlx::ConnectOptions;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Prepared statements kept by a connection: set-based texts come in some lengths each.
const STATEMENTS: usize = 1_000;

/// How a database file is opened, and what it is told then.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    file: PathBuf,
    flags: OpenFlags,
    busy: Duration,
    pragmas: Vec<(&'static str, &'static str)>,
}

impl Options {
    /// Opens a file that is there, to read and write it.
    pub(crate) fn new(file: &Path, busy: Duration) -> Self {
        Self {
            file: file.to_owned(),
            // A connection is used by one thread at a time; which one, changes.
            flags: OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
            busy,
            pragmas: vec![("foreign_keys", "on")],
        }
    }

    /// Opens or makes a database in memory. It has no log: a transaction that is rolled back finds what was in
    /// memory as well.
    pub(crate) fn in_memory(name: &str) -> Self {
        let file = PathBuf::from(format!("file:/{name}?vfs=memdb"));
        let mut options = Self::new(&file, Duration::ZERO).create();
        options.flags |= OpenFlags::SQLITE_OPEN_URI;
        options
            .pragma("journal_mode", "memory")
            .pragma("temp_store", "memory")
    }

    /// Makes the file where it is not there.
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

    /// Sets a pragma; the last value counts.
    pub(crate) fn pragma(mut self, name: &'static str, value: &'static str) -> Self {
        self.pragmas.retain(|(set, _)| *set != name);
        self.pragmas.push((name, value));
        self
    }

    /// Opens the file here and now.
    fn open(&self) -> rusqlite::Result<Connection> {
        let raw = rusqlite::Connection::open_with_flags(&self.file, self.flags)?;
        raw.busy_timeout(self.busy)?;
        raw.set_prepared_statement_cache_capacity(STATEMENTS);
        for (name, value) in &self.pragmas {
            raw.execute_batch(&format!("pragma {name} = {value}"))?;
        }
        Ok(Connection::new(raw))
    }
}

impl ConnectOptions for Options {
    type Connection = Connection;

    fn from_url(url: &url::Url) -> sqlx::Result<Self> {
        url.as_str().parse()
    }

    async fn connect(&self) -> sqlx::Result<Connection> {
        super::connection::apart(|| self.open()).map_err(failure)
    }

    fn log_statements(self, _level: log::LevelFilter) -> Self {
        self
    }

    fn log_slow_statements(self, _level: log::LevelFilter, _duration: Duration) -> Self {
        self
    }
}

/// sqlx asks for it; an embedded database is named by its directory.
impl FromStr for Options {
    type Err = sqlx::Error;

    fn from_str(_: &str) -> sqlx::Result<Self> {
        Err(sqlx::Error::Configuration(
            "an embedded database has no URL".into(),
        ))
    }
}
