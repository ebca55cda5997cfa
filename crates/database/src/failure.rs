//! The answers of the databases that report a failure.

use rusqlite::ffi;
use std::borrow::Cow;
use std::fmt;

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
    pub(crate) fn io(&self) -> Option<&std::io::Error> {
        match self {
            Self::Postgres(sqlx::Error::Io(error)) | Self::Io(error) => Some(error),
            Self::Postgres(_) | Self::Sqlite(_) | Self::Other(_) => None,
        }
    }

    /// Returns `true` if the same statement may work later.
    pub(crate) fn is_passing(&self) -> bool {
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

/// An error of SQLite: its extended code and its message.
#[derive(Debug)]
pub struct SqliteFailure {
    pub(crate) code: i32,
    message: String,
}

/// Converts an error of SQLite into a failure of the database.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
pub(crate) fn failure(error: rusqlite::Error) -> Failure {
    let (answer, message) = match &error {
        rusqlite::Error::SqliteFailure(answer, Some(message)) => (answer, message.clone()),
        rusqlite::Error::SqlInputError { error, msg, .. } => (error, msg.clone()),
        other => match other.sqlite_error() {
            Some(answer) => (answer, other.to_string()),
            None => return Failure::Other(other.to_string()),
        },
    };
    Failure::Sqlite(SqliteFailure {
        code: answer.extended_code,
        message,
    })
}

/// Returns `true` if a sync of a file or its directory has failed.
pub(crate) fn is_unsynced(error: &Failure) -> bool {
    let Failure::Sqlite(SqliteFailure { code, .. }) = error else {
        return false;
    };
    matches!(*code, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
}

impl fmt::Display for SqliteFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "(code: {}) {}", self.code, self.message)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

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
