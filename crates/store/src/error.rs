//! What can go wrong with the database.

/// A failure of the database, never of the caller.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database did not do what it was asked.
    #[error("the database failed: {0}")]
    Database(#[from] sqlx::Error),
    /// The schema could not be brought up to date.
    #[error("the schema could not be brought up to date: {0}")]
    Migration(#[source] sqlx::migrate::MigrateError),
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
    /// A setting on which durability rests did not take.
    #[error(
        "the database does not keep `{setting}` at {wanted}, it says {found}: refusing to start"
    )]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: String,
    },
    /// Another process serves from this data directory.
    #[error("another process is serving from {0}: stop it first")]
    Locked(String),
    /// The data directory cannot be used.
    #[error("the data directory {path} cannot be used: {source}")]
    Directory {
        /// Which one.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A row holds what this release cannot read.
    #[error("the database holds a value that cannot be read: {0}")]
    Unreadable(String),
    /// A change met a state that it must never meet; nothing of it was kept.
    #[error("a change met an impossible state: {0}")]
    Impossible(&'static str),
    /// The writer has stopped.
    #[error("the database is closed")]
    Closed,
}

impl Error {
    /// Whether the same request may work later: no room on the disk, a busy or vanished server.
    pub fn is_unavailable(&self) -> bool {
        const BUSY: u32 = 5;
        const IO: u32 = 10;
        const FULL: u32 = 13;
        match self {
            Self::Closed
            | Self::Database(
                sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed,
            ) => true,
            Self::Database(sqlx::Error::Database(error)) => {
                // SQLite's extended codes carry the primary code in their low byte.
                let code = error.code().and_then(|code| code.parse::<u32>().ok());
                code.is_some_and(|code| [BUSY, IO, FULL].contains(&(code & 0xFF)))
            }
            Self::Database(_)
            | Self::Migration(_)
            | Self::Newer { .. }
            | Self::Setting { .. }
            | Self::Locked(_)
            | Self::Directory { .. }
            | Self::Unreadable(_)
            | Self::Impossible(_) => false,
        }
    }
}

/// What a function of the store gives.
pub type Result<T> = std::result::Result<T, Error>;
