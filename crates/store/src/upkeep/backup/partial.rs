//! A partial file, which is still being written.

use super::error::BackupError;
use database::{MODE, give_to_owner, sync_directory};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file with a temporary name until it is complete and synced. After a failure it is removed. If
/// the process was killed, the next attempt reuses it.
pub(super) struct Partial {
    name: PathBuf,
    path: PathBuf,
    /// The locked file, so that only one of two processes writes.
    file: File,
}

impl Partial {
    /// Makes an empty file beside the final one, which must not exist.
    pub(super) fn begin(name: &Path) -> std::result::Result<Self, BackupError> {
        // SQLite treats a relative `file:…` as a URI.
        let name = std::path::absolute(name).map_err(|source| fault(name, source))?;
        is_free(&name)?;
        let path = beside(&name, ".partial");
        remove_abandoned(&name, &path)?;
        let mut options = OpenOptions::new();
        // No existing file is opened and no link followed: in a directory of other users it may
        // lead anywhere.
        let made = options.create_new(true).write(true).mode(MODE).open(&path);
        let file = made.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => BackupError::Busy(name.display().to_string()),
            _ => fault(&path, source),
        })?;
        lock(&file, &name, &path)?;
        let partial = Self { name, path, file };
        // The other process may have finished just now. Then this is the file that it made.
        is_free(&partial.name)?;
        partial.empty().map_err(|source| partial.fault(source))?;
        Ok(partial)
    }

    /// Removes the data of an attempt that was killed.
    fn empty(&self) -> io::Result<()> {
        match fs::remove_file(self.journal()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Gives the file to the owner of the directory that it is made for.
    pub(super) fn give_to(&self, directory: &Path) -> std::result::Result<(), BackupError> {
        give_to_owner(&self.file, directory).map_err(|source| self.fault(source))
    }

    fn journal(&self) -> PathBuf {
        beside(&self.path, "-journal")
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the file to its final name, and syncs the directory.
    pub(super) fn finish(self) -> std::result::Result<(), BackupError> {
        let finished = self.file.sync_all().and_then(|()| {
            fs::rename(&self.path, &self.name)?;
            sync_directory(self.name.parent().unwrap_or(Path::new("/")))
        });
        finished.map_err(|source| self.fault(source))
    }

    fn fault(&self, source: io::Error) -> BackupError {
        fault(&self.name, source)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // The temporary name no longer exists once the file is finished.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.journal());
    }
}

/// Removes the file of an attempt that was killed. A file that is not ours stays, and is refused.
fn remove_abandoned(name: &Path, path: &Path) -> std::result::Result<(), BackupError> {
    let exists = || BackupError::Exists(path.display().to_string());
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(|source| fault(path, source))?,
    };
    if !found.is_file() || found.nlink() != 1 {
        return Err(exists());
    }
    let opened = OpenOptions::new().write(true).open(path);
    let file = opened.map_err(|source| fault(path, source))?;
    lock(&file, name, path)?;
    // Under the lock only this process removes it. Another one may have removed it before, or put a
    // link in its place.
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let (locked, named) = (file.metadata(), fs::symlink_metadata(path));
    match (locked.map(id), named.map(id)) {
        (Ok(locked), Ok(named)) if locked == named => {
            fs::remove_file(path).map_err(|source| fault(path, source))
        }
        _ => Err(BackupError::Busy(name.display().to_string())),
    }
}

/// Locks a partial file, or returns an error if another process holds the lock.
fn lock(file: &File, name: &Path, path: &Path) -> std::result::Result<(), BackupError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(BackupError::Busy(name.display().to_string())),
        Err(TryLockError::Error(source)) => Err(fault(path, source)),
    }
}

/// Returns an error if a file has this name.
pub(super) fn is_free(name: &Path) -> std::result::Result<(), BackupError> {
    match fs::symlink_metadata(name) {
        Ok(_) => Err(BackupError::Exists(name.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(fault(name, source)),
    }
}

/// Returns the name with a suffix.
fn beside(name: &Path, more: &str) -> PathBuf {
    let mut name = OsString::from(name);
    name.push(more);
    name.into()
}

fn fault(path: &Path, source: io::Error) -> BackupError {
    BackupError::File {
        path: path.display().to_string(),
        source,
    }
}
