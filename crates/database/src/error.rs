//! Errors of the database.

use crate::failure::{Failure, is_unsynced};
use crate::postgres::remedy::Unusable;
use std::path::Path;

/// A failure of the database, never of the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database reported a failure.
    #[error("the database failed: {0}")]
    Database(Failure),
    /// A statement that always returns a row returned none.
    #[error("the database returned no row")]
    NoRow,
    /// A connection to the server could not be made. Causes include a proxy without a server, a
    /// server that starts, and a changed certificate or password. No query was sent yet.
    #[error("no connection to the database: {0}")]
    Connecting(#[source] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("the schema could not be brought up to date: {0}")]
    Migration(Failure),
    /// An applied migration differs from the one in this release.
    #[error(
        "the schema could not be brought up to date: migration {version} was applied in another \
         form"
    )]
    Altered {
        /// The version of the migration.
        version: i64,
    },
    /// The database was written by a newer release.
    #[error(
        "the database was made by a newer release of ogene (schema {found}, this one knows \
         {known}): start the newer release again"
    )]
    Newer {
        /// Schema version of the database.
        found: i64,
        /// Newest schema version of this binary.
        known: i64,
    },
    /// A PostgreSQL server that cannot be used.
    #[error(transparent)]
    Unusable(Unusable),
    /// A setting that durability depends on could not be set.
    #[error("the database has `{setting}` at {found} in place of {wanted}: refusing to start")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// The required value.
        wanted: &'static str,
        /// The value found.
        found: String,
    },
    /// The data directory cannot be used.
    #[error("the data directory {path} cannot be used: {source}")]
    Directory {
        /// The path of the directory.
        path: String,
        /// The reason.
        #[source]
        source: std::io::Error,
    },
    /// The database is missing, and the data of its log would be lost.
    #[error(
        "{0}/ogene.db is missing or empty, but its write-ahead log ogene.db-wal has data: put the \
         ogene.db that belongs to it back, or move the log away and restore a backup; nothing was \
         changed"
    )]
    LogAlone(String),
    /// The disk has no room for a start.
    #[error(
        "the disk of {path} is full ({source}): make room on it, and start again; nothing was \
         changed"
    )]
    Full {
        /// The data directory.
        path: String,
        /// The failure that revealed it.
        #[source]
        source: Box<Error>,
    },
    /// A row holds a value that this release cannot read.
    #[error("the database holds a value that cannot be read: {0}")]
    Unreadable(String),
    /// A change met an impossible state and was rolled back.
    #[error("a change met an impossible state: {0}")]
    Impossible(&'static str),
    /// The server did not answer in time.
    #[error("the database did not answer in time")]
    TimedOut,
    /// The disk did not accept a write. The result is known once the database is opened again, and
    /// no further commit happens until then.
    #[error(
        "the disk failed to keep what was written ({0}): see to it, and start again. What was \
         answered is there"
    )]
    Unsynced(Failure),
    /// The writer has stopped.
    #[error("the database is closed")]
    Closed,
}

impl Error {
    /// Returns the error for a failure of a data directory.
    pub fn directory(path: &Path, source: std::io::Error) -> Self {
        Self::Directory {
            path: path.display().to_string(),
            source,
        }
    }

    /// Returns the error as a start in this directory reports it.
    #[must_use]
    pub fn at_start(self, path: &Path) -> Self {
        if self.is_full() {
            let path = path.display().to_string();
            let source = Box::new(self);
            return Self::Full { path, source };
        }
        self
    }

    fn is_full(&self) -> bool {
        let is_full = |error: &std::io::Error| {
            use std::io::ErrorKind::{QuotaExceeded, StorageFull};
            matches!(error.kind(), StorageFull | QuotaExceeded)
        };
        match self {
            Self::Directory { source, .. } => is_full(source),
            Self::Database(failure) | Self::Unsynced(failure) | Self::Migration(failure) => {
                failure.io().is_some_and(is_full)
                    || failure
                        .code()
                        .is_some_and(|code| FULL_CODES.contains(&&*code))
            }
            _ => false,
        }
    }

    /// Returns `true` if the same request may work later: the disk is full, or the server is busy
    /// or gone.
    pub fn is_unavailable(&self) -> bool {
        match self {
            Self::Closed | Self::TimedOut | Self::Connecting(_) => true,
            Self::Database(failure) => failure.is_passing(),
            Self::Migration(_)
            | Self::Altered { .. }
            | Self::Newer { .. }
            | Self::NoRow
            | Self::Unusable(_)
            | Self::Setting { .. }
            | Self::Directory { .. }
            | Self::LogAlone(_)
            | Self::Full { .. }
            | Self::Unreadable(_)
            | Self::Impossible(_)
            | Self::Unsynced(_) => false,
        }
    }

    /// Returns `true` if the result of a change is unknown for now.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unsynced(_))
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Failure::Postgres(error))
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        if is_unsynced(&failure) {
            Self::Unsynced(failure)
        } else {
            Self::Database(failure)
        }
    }
}

/// SQLite's codes for a full disk: on a write, and on making the index of the log.
const FULL_CODES: [&str; 2] = ["13", "4874"];

/// The result of a function of the store.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_fails_while_a_connection_is_made_may_work_later() {
        let protocol = || sqlx::Error::Protocol("unexpected response from SSLRequest: 0x00".into());
        for error in [
            protocol(),
            sqlx::Error::Tls("a certificate has expired".into()),
            sqlx::Error::PoolTimedOut,
            sqlx::Error::Io(std::io::ErrorKind::NotFound.into()),
        ] {
            assert!(Error::Connecting(error).is_unavailable());
        }
        // Within a statement, the same error means a faulty statement.
        assert!(!Error::from(protocol()).is_unavailable());
    }
}
