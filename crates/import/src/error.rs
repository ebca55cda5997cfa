//! The reasons why an import fails.

use database::Error;

/// The reason why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A database failed.
    #[error(transparent)]
    Store(#[from] Error),
    /// The source holds no account.
    #[error("it holds no account: there is nothing to import")]
    Empty,
    /// The target is in use.
    #[error(
        "the PostgreSQL database holds accounts that did not come from \
         there: import into an empty database"
    )]
    OtherData,
    /// The target belongs to another installation.
    #[error(
        "another installation was imported into the PostgreSQL database, or begun to be: import into \
         an empty database"
    )]
    OtherImport,
    /// A node works with the target.
    #[error("ogene serves from the PostgreSQL database: stop it everywhere, and import again")]
    Served,
    /// The books do not add up.
    #[error("the books of the {which} do not add up, see `ogene verify`: {first}")]
    Unsound {
        /// The source or the target.
        which: &'static str,
        /// The first violation.
        first: String,
    },
    /// The databases do not agree.
    #[error(
        "the {0} of the PostgreSQL database are not those of the source: one of the two was used \
         after the import had begun. Empty the PostgreSQL database and import again"
    )]
    Differs(&'static str),
}

pub(crate) type ImportResult<T> = std::result::Result<T, ImportError>;
