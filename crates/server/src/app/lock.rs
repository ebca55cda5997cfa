//! The lock in the data directory: one process serves from it.

use super::Error;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

const FILE: &str = "ogene.lock";

/// Takes the lock, which lasts as long as the file that is given back; the system frees it when a process dies.
pub(super) fn take(data_dir: &Path) -> Result<File, Error> {
    let path = data_dir.join(FILE);
    let fault = |source| Error::Lock {
        path: path.display().to_string(),
        source,
    };
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = options.open(&path).map_err(fault)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(data_dir.display().to_string())),
        Err(TryLockError::Error(source)) => Err(fault(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_is_served_by_one_process_at_a_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let first = take(directory.path()).expect("free");
        let second = take(directory.path()).expect_err("taken");
        assert!(
            second.to_string().starts_with("another ogene serves from"),
            "{second}"
        );
        drop(first);
        assert!(take(directory.path()).is_ok());
    }
}
