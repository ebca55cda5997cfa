//! The failures of SQLite.

use crate::error::Failure;
use rusqlite::ffi;
use std::fmt;

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
