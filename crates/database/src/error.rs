//! Errors of the database.

use crate::db::Unusable;
use crate::sqlite::{SqliteFailure, is_unsynced};
use std::borrow::Cow;
use std::fmt;
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
        "the schema could not be brought up to date: migration {version} was applied in another form"
    )]
    Altered {
        /// The version of the migration.
        version: i64,
    },
    /// The database was written by a newer release.
    #[error(
        "the database was made by a newer release of ogene (schema {found}, this one knows {known}): \
         start the newer release again"
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
    #[error(
        "the database does not keep `{setting}` at {wanted}, it says {found}: refusing to start"
    )]
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
        "{0}/ogene.db is missing or empty, but its write-ahead log ogene.db-wal has data: put the ogene.db that belongs to \
         it back, or move the log away and restore a backup; nothing was changed"
    )]
    LogAlone(String),
    /// The disk has no room for a start.
    #[error(
        "the disk of {path} is full ({source}): make room on it, and start again; nothing was changed"
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
        "the disk failed to keep what was written ({0}): see to it, and start again. What was answered is there"
    )]
    Unsynced(Failure),
    /// The writer has stopped.
    #[error("the database is closed")]
    Closed,
}

/// The answer of a database, or of a layer before it.
#[derive(Debug)]
pub enum Failure {
    /// The answer of PostgreSQL, or of its connection.
    Postgres(sqlx::Error),
    /// The answer of SQLite.
    Sqlite(SqliteFailure),
    /// An answer of the system.
    Io(std::io::Error),
    /// Another failure.
    Other(String),
}

impl Failure {
    /// Returns the code of the database: SQLSTATE of PostgreSQL, or the extended code of SQLite.
    pub(crate) fn code(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Postgres(sqlx::Error::Database(error)) => error.code(),
            Self::Sqlite(error) => Some(error.code.to_string().into()),
            Self::Postgres(_) | Self::Io(_) | Self::Other(_) => None,
        }
    }

    /// Returns the error of the operating system, if it is one.
    fn io(&self) -> Option<&std::io::Error> {
        match self {
            Self::Postgres(sqlx::Error::Io(error)) | Self::Io(error) => Some(error),
            Self::Postgres(_) | Self::Sqlite(_) | Self::Other(_) => None,
        }
    }

    fn is_passing(&self) -> bool {
        let is_of_pool = matches!(
            self,
            Self::Postgres(sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed)
        );
        is_of_pool || self.io().is_some() || self.code().is_some_and(|code| is_passing(&code))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(error) => error.fmt(f),
            Self::Sqlite(error) => write!(f, "error returned from database: {error}"),
            Self::Io(error) => error.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
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
/// PostgreSQL's classes of transient errors: connection, rollback, resources, operator
/// intervention, system.
const PASSING_CLASSES: [&str; 5] = ["08", "40", "53", "57", "58"];
/// PostgreSQL's other transient codes: the server became a standby, a node stalled within a
/// transaction, a lock timed out.
const PASSING_STATES: [&str; 3] = ["25006", "25P03", "55P03"];
/// SQLite's transient primary codes: busy, I/O, full.
const PASSING_CODES: [u32; 3] = [5, 10, 13];

/// Returns `true` if a database's error code means a transient error.
fn is_passing(code: &str) -> bool {
    const SQLSTATE_LENGTH: usize = 5;
    if code.len() == SQLSTATE_LENGTH {
        return PASSING_STATES.contains(&code)
            || PASSING_CLASSES.iter().any(|class| code.starts_with(class));
    }
    // SQLite's extended codes carry the primary code in their low byte.
    code.parse::<u32>()
        .is_ok_and(|code| PASSING_CODES.contains(&(code & 0xFF)))
}

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

    #[test]
    fn what_passes_is_told_from_what_is_wrong_on_both_databases() {
        let table = [
            ("5", true),
            ("13", true),
            ("522", true),
            ("2067", false),
            ("1555", false),
            ("53100", true),
            ("57P01", true),
            ("40P01", true),
            ("08006", true),
            ("25006", true),
            ("55P03", true),
            ("25P02", false),
            ("23505", false),
            ("42601", false),
        ];
        for (code, passes) in table {
            assert_eq!(is_passing(code), passes, "{code}");
        }
    }
}
