//! What SQLite says when it cannot do what it was asked.

use rusqlite::ffi;
use sqlx::error::{DatabaseError, ErrorKind};
use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

/// SQLite's answer: its extended code and its words.
#[derive(Debug)]
struct Failure {
    code: i32,
    message: String,
}

/// A failure as sqlx tells it.
#[expect(clippy::needless_pass_by_value, reason = "it is given to map_err")]
pub(super) fn failure(error: rusqlite::Error) -> sqlx::Error {
    let Some(said) = error.sqlite_error() else {
        return sqlx::Error::Protocol(error.to_string());
    };
    let message = match &error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
        other => other.to_string(),
    };
    sqlx::Error::Database(Box::new(Failure {
        code: said.extended_code,
        message,
    }))
}

/// Whether a sync has failed, of a file or of its directory.
pub(crate) fn is_unsynced(error: &sqlx::Error) -> bool {
    let said = match error {
        sqlx::Error::Database(said) => said.try_downcast_ref::<Failure>(),
        _ => None,
    };
    let code = said.map(|said| said.code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    )
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "(code: {}) {}", self.code, self.message)
    }
}

impl StdError for Failure {}

impl DatabaseError for Failure {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        match self.code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                ErrorKind::UniqueViolation
            }
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ErrorKind::ForeignKeyViolation,
            ffi::SQLITE_CONSTRAINT_NOTNULL => ErrorKind::NotNullViolation,
            ffi::SQLITE_CONSTRAINT_CHECK => ErrorKind::CheckViolation,
            _ => ErrorKind::Other,
        }
    }
}
