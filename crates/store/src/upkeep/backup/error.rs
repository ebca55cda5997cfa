//! The reasons why a backup or a restore fails.

use database::Error;
use std::io;

/// The reason why a backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database failed, or a newer release made it.
    #[error(transparent)]
    Store(#[from] Error),
    /// A file with this name exists.
    #[error(
        "{0} is there already, and nothing is overwritten: move it away, or name another place"
    )]
    Exists(String),
    /// Another process writes the same file.
    #[error("another ogene is writing {0}")]
    Busy(String),
    /// A file cannot be written.
    #[error("{path} cannot be written: {source}")]
    File {
        /// The path.
        path: String,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// The file is not a database of Ogene.
    #[error("it is no database of ogene")]
    Foreign,
    /// The schema was changed by others.
    #[error("it {0}, which no release of ogene made: restore a file as `ogene backup` wrote it")]
    Altered(String),
    /// The books do not add up.
    #[error(
        "its books do not add up, {count} invariants are violated (see `ogene verify`): {first}"
    )]
    Unsound {
        /// The number of violations listed.
        count: usize,
        /// The first of them.
        first: String,
    },
}
