//! A file in the making.

use super::{BackupError, Outcome};
use crate::db::files::{self, MODE};
use crate::db::sync_directory;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A file that has another name until it is whole and on the disk. Where it does not come to that it is removed, or
/// taken up by the next attempt if the process was killed.
pub(super) struct Partial {
    name: PathBuf,
    path: PathBuf,
    /// Locked: of two processes one writes.
    file: File,
}

impl Partial {
    /// An empty file beside the one that it is to become, which must not be there.
    pub(super) fn begin(name: &Path) -> Outcome<Self> {
        // SQLite takes a relative `file:…` for an address.
        let name = std::path::absolute(name).map_err(|source| fault(name, source))?;
        is_free(&name)?;
        let path = beside(&name, ".partial");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(MODE);
        let file = options.open(&path).map_err(|source| fault(&path, source))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(BackupError::Busy(name.display().to_string()));
            }
            Err(TryLockError::Error(source)) => return Err(fault(&path, source)),
        }
        let partial = Self { name, path, file };
        // The other process may have come to its end just now: then this is the file that it made.
        is_free(&partial.name)?;
        partial.empty().map_err(|source| partial.fault(source))?;
        Ok(partial)
    }

    /// Whatever an attempt that was killed has left is no part of this one.
    fn empty(&self) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(MODE))?;
        self.file.set_len(0)?;
        match fs::remove_file(self.journal()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Leaves the file to the owner of the directory that it is made for.
    pub(super) fn give_to(&self, directory: &Path) -> Outcome<()> {
        files::give_away(&self.file, directory).map_err(|source| self.fault(source))
    }

    fn journal(&self) -> PathBuf {
        beside(&self.path, "-journal")
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, which stays with it whatever happens to the machine.
    pub(super) fn finish(self) -> Outcome<()> {
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
        // Nothing is there under this name once it is finished.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.journal());
    }
}

/// Refuses where something has this name.
pub(super) fn is_free(name: &Path) -> Outcome<()> {
    match fs::symlink_metadata(name) {
        Ok(_) => Err(BackupError::Exists(name.display().to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(fault(name, source)),
    }
}

/// The same name with more behind it.
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
