//! The lock in the data directory: one process serves from it. It lasts as long as the returned
//! file. The system frees it when the process dies.

use super::error::Error;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use store::Store;

const SERVING: &str = "ogene.lock";

/// Takes the lock of the one process that serves. Creates the directory if it does not exist.
pub(crate) fn serve(data_dir: &Path) -> Result<File, Error> {
    let fault = |source: io::Error| Error::DataDir {
        path: data_dir.display().to_string(),
        source,
    };
    Store::prepare(data_dir, SERVING)?;
    let mut options = OpenOptions::new();
    let file = options.write(true).open(data_dir.join(SERVING));
    let file = file.map_err(fault)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(data_dir.display().to_string())),
        Err(TryLockError::Error(error)) => Err(fault(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_is_served_by_one_process_at_a_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let first = serve(directory.path()).expect("free");
        let second = serve(directory.path()).expect_err("taken");
        assert!(
            second.to_string().starts_with("another ogene serves from"),
            "{second}"
        );
        drop(first);
        assert!(serve(directory.path()).is_ok());
    }
}
