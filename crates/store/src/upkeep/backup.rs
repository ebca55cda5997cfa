//! Backups of an embedded installation, and what is made of them.
//!
//! A backup is a whole database in one file, as it was at one moment. What is written here bears its name only once
//! it is whole, sound and on the disk: whatever has the name can be relied on.

mod partial;

use crate::upkeep::verify::check;
use crate::{SCHEMA, Store, Verification};
use database::{Error, FILE, copy, prepare_directory, take_turn};
use partial::Partial;
use std::io;
use std::path::Path;

/// Files of a database, of which none may be in the directory that a backup is restored into.
const DATABASE: [&str; 4] = [FILE, "ogene.db-wal", "ogene.db-shm", "ogene.db-journal"];

/// Why there is no backup, or nothing made of one.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The database failed, or a newer release made it.
    #[error(transparent)]
    Store(#[from] Error),
    /// A file is in the way.
    #[error(
        "{0} is there already, and nothing is overwritten: move it away, or name another place"
    )]
    Exists(String),
    /// Another process writes the same.
    #[error("another ogene is writing {0}")]
    Busy(String),
    /// A file cannot be written.
    #[error("{path} cannot be written: {source}")]
    File {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is something else.
    #[error("it is no database of ogene")]
    Foreign,
    /// It has been changed by others.
    #[error("it {0}, which no release of ogene made: restore a file as `ogene backup` wrote it")]
    Altered(String),
    /// The books do not add up.
    #[error(
        "its books do not add up, {count} invariants are violated (see `ogene verify`): {first}"
    )]
    Unsound {
        /// How many violations were named.
        count: usize,
        /// The first of them.
        first: String,
    },
}

type Outcome<T> = std::result::Result<T, BackupError>;

impl Store {
    /// Writes all of an embedded database into a new file, as it is at one moment, whoever works with it. Gives
    /// what was counted in the backup once that is verified and on the disk.
    pub async fn backup(&self, file: &Path) -> Outcome<Verification> {
        let from = self.db.connect_to_copy()?;
        let partial = Partial::begin(file)?;
        copy::copy(from, partial.path())?;
        let verification = sound(partial.path()).await?;
        partial.finish()?;
        Ok(verification)
    }

    /// Makes the database of a directory from a backup, with the schema of this release. Gives what was counted in
    /// it. Where it fails or is interrupted there is no database, and it can be repeated.
    pub async fn restore(backup: &Path, directory: &Path) -> Outcome<Verification> {
        let from = copy::open_copy(backup, &SCHEMA)?.ok_or(BackupError::Foreign)?;
        prepare_directory(directory)?;
        // Whoever opens the directory meanwhile waits: it would make an empty database.
        let _turn = take_turn(directory).await?;
        for file in DATABASE {
            partial::is_free(&directory.join(file))?;
        }
        let partial = Partial::begin(&directory.join(FILE))?;
        partial.give_to(directory)?;
        copy::copy(from, partial.path())?;
        copy::upgrade(partial.path(), &SCHEMA)?;
        if let Some(difference) = copy::difference(partial.path(), &SCHEMA)? {
            return Err(BackupError::Altered(difference));
        }
        let verification = sound(partial.path()).await?;
        partial.finish()?;
        Ok(verification)
    }
}

/// Verifies a copy.
async fn sound(file: &Path) -> Outcome<Verification> {
    let verification = check(&mut copy::read_copy(file)?).await?;
    match verification.violations.first() {
        None => Ok(verification),
        Some(first) => Err(BackupError::Unsound {
            count: verification.violations.len(),
            first: first.clone(),
        }),
    }
}
