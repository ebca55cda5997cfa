//! Backups of an embedded installation, and their restore.
//!
//! A backup is a whole database in one file, as of one moment. The file gets its name only once it
//! is complete, verified and synced, so a file with that name is reliable.

mod error;
mod partial;

pub use error::BackupError;

use crate::schema::SCHEMA;
use crate::upkeep::verify::{Verification, VerifyProgress, check};
use database::{Db, FILE, copy, lock_opening, prepare_directory};
use partial::Partial;
use std::path::Path;

/// Files of a database. None may exist in the directory into which a backup is restored.
const DATABASE: [&str; 4] = [FILE, "ogene.db-wal", "ogene.db-shm", "ogene.db-journal"];

/// Writes an embedded database into a new file, as of one moment, while it is in use. Returns
/// the counts of the backup once it is verified and synced.
pub(crate) async fn backup(db: &Db, file: &Path) -> std::result::Result<Verification, BackupError> {
    let from = db.connect_to_copy()?;
    let partial = Partial::begin(file)?;
    copy::copy(from, partial.path())?;
    let verification = sound(partial.path()).await?;
    partial.finish()?;
    Ok(verification)
}

/// Makes the database of a directory from a backup, with the schema of this release. Returns
/// the counts of the backup. After a failure or an interruption there is no database, and the
/// restore can be repeated.
pub async fn restore(
    backup: &Path,
    directory: &Path,
) -> std::result::Result<Verification, BackupError> {
    let from = copy::open_copy(backup, &SCHEMA)?.ok_or(BackupError::Foreign)?;
    prepare_directory(directory)?;
    // Another process that opens the directory meanwhile waits. It would make an empty
    // database.
    let _lock = lock_opening(directory).await?;
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

/// Verifies a copy.
async fn sound(file: &Path) -> std::result::Result<Verification, BackupError> {
    let verification = check(&mut copy::read_copy(file)?, &VerifyProgress::default()).await?;
    match verification.violations.first() {
        None => Ok(verification),
        Some(first) => Err(BackupError::Unsound {
            count: verification.violations.len(),
            first: first.clone(),
        }),
    }
}
