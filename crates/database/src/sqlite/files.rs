//! The files of an embedded database, which only their owner may read.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::time::Duration;

/// The embedded database in its directory.
pub const FILE: &str = "ogene.db";

/// Mode of the database, which holds numbers and texts. SQLite gives its other files the mode and
/// owner of the database.
pub const MODE: u32 = 0o600;

/// The write-ahead log.
const LOG: &str = "ogene.db-wal";

/// The lock file, held by the process that opens the database.
const OPENING_LOCK: &str = "opening.lock";

/// Interval between attempts to take the lock while another process opens the database.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// Makes a file of a data directory if it is missing.
pub fn make(directory: &Path, name: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(MODE);
    match options.open(directory.join(name)) {
        Ok(file) => give_to_owner(&file, directory),
        // The file is not opened: closing it would release the locks that this process has on it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns `true` if a write-ahead log with data exists without its database. SQLite would remove
/// such a log. A database is never empty once its log has data.
pub fn has_orphaned_log(directory: &Path) -> io::Result<bool> {
    let length = |name: &str| match fs::metadata(directory.join(name)) {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    Ok(length(FILE)? == 0 && length(LOG)? > 0)
}

/// Gives a file to the owner of its directory. Only root makes files for another user, and a
/// service could not open files of root.
pub fn give_to_owner(file: &File, directory: &Path) -> io::Result<()> {
    let (maker, owner) = (file.metadata()?.uid(), fs::metadata(directory)?);
    if maker == 0 && owner.uid() != maker {
        fchown(file, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// Waits for the lock to open the database. Two processes that made the same tables at once would
/// conflict. The lock lasts as long as the returned file, and the system releases it when a process
/// dies.
pub async fn lock_opening(path: &Path) -> Result<File> {
    let fault = |source| Error::directory(path, source);
    make(path, OPENING_LOCK).map_err(fault)?;
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .open(path.join(OPENING_LOCK))
        .map_err(fault)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(LOCK_RETRY_INTERVAL).await,
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
    }
}

/// Makes the directory, readable by its owner alone, and syncs it. A disk that cannot sync is so
/// detected while the directory is still empty.
pub fn prepare_directory(path: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| sync_directory(path))
        .map_err(|source| Error::directory(path, source))
}

/// Syncs a directory, which makes the names of its files durable. SQLite would sync it with its
/// first commit and ignore a failure, so it is compiled without (`.cargo/config.toml`).
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
