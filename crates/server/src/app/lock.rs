//! The locks in the data directory: one process serves from it, and one at a time makes or migrates its
//! database. They last as long as the file that is given back; the system frees them when a process dies.

use super::Error;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

const SERVING: &str = "ogene.lock";
const OPENING: &str = "opening.lock";
/// How often another process that opens the database is looked for again.
const PAUSE: Duration = Duration::from_millis(20);

/// Takes the lock of the one process that serves.
pub(super) fn serve(data_dir: &Path) -> Result<File, Error> {
    let locked = try_lock(data_dir, SERVING).map_err(|source| fault(data_dir, source))?;
    locked.ok_or_else(|| Error::Locked(data_dir.display().to_string()))
}

/// Waits for the turn to open the database, and makes the directory where there is none.
pub(super) async fn open(data_dir: &Path) -> Result<File, Error> {
    make_private(data_dir).map_err(|source| fault(data_dir, source))?;
    loop {
        match try_lock(data_dir, OPENING) {
            Ok(Some(turn)) => return Ok(turn),
            Ok(None) => sleep(PAUSE).await,
            Err(source) => return Err(fault(data_dir, source)),
        }
    }
}

/// The lock, or `None` where another process holds it.
fn try_lock(data_dir: &Path, name: &str) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = options.open(data_dir.join(name))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Makes the directory for its owner alone; one that is there keeps its mode.
fn make_private(data_dir: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
}

fn fault(data_dir: &Path, source: io::Error) -> Error {
    let path = data_dir.display().to_string();
    Error::DataDir { path, source }
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
