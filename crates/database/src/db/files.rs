//! The files of an embedded database: its owner alone reads them.

use super::{BUSY, Db, FILE, prepare_directory, sync_directory};
use crate::error::{Error, Result};
use crate::migrate::Schema;
use crate::sqlite::Options;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;
use std::time::Duration;

/// It holds numbers and texts. What SQLite makes beside a database has the mode and the owner of the database.
pub const MODE: u32 = 0o600;
/// The write-ahead log.
const LOG: &str = "ogene.db-wal";
/// The file that is locked by whoever has the turn to open the database.
const TURN: &str = "opening.lock";
/// How often another process that opens the database is looked for again.
const TURN_PAUSE: Duration = Duration::from_millis(20);

/// Makes a file of a data directory where it is not there.
pub fn make(directory: &Path, name: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(MODE);
    match options.open(directory.join(name)) {
        Ok(file) => give_away(&file, directory),
        // It is not opened: to close a database ends the locks that this process has on it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether there is a write-ahead log with data and no database that it belongs to. SQLite would remove the log: a database
/// is never empty once its log has data.
pub fn is_log_alone(directory: &Path) -> io::Result<bool> {
    let length = |name: &str| match fs::metadata(directory.join(name)) {
        Ok(found) => Ok(found.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    };
    Ok(length(FILE)? == 0 && length(LOG)? > 0)
}

/// Opens the database of a directory, or makes one where there is none.
pub(super) async fn open(path: &Path, schema: &Schema) -> Result<Db> {
    prepare_directory(path)?;
    let _turn = take_turn(path).await?;
    if is_log_alone(path).map_err(|source| Error::directory(path, source))? {
        return Err(Error::LogAlone(path.display().to_string()));
    }
    make(path, FILE).map_err(|source| Error::directory(path, source))?;
    let db = super::open_sqlite(Options::new(&path.join(FILE), BUSY), schema)?;
    // The file and its log have their names since then, and keep them while it is open.
    sync_directory(path).map_err(|source| Error::directory(path, source))?;
    Ok(db)
}

/// Gives a file to the owner of its directory. Only root makes any for others, and a service whose files were root's
/// would not start.
pub fn give_away(file: &File, directory: &Path) -> io::Result<()> {
    let (maker, owner) = (file.metadata()?.uid(), fs::metadata(directory)?);
    if maker == 0 && owner.uid() != maker {
        fchown(file, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}

/// Waits for the turn to open the database: two processes that made the same tables at once would be in each
/// other's way. The turn lasts as long as the file; the system ends it when a process dies.
pub async fn take_turn(path: &Path) -> Result<File> {
    let fault = |source| Error::directory(path, source);
    make(path, TURN).map_err(fault)?;
    let mut options = OpenOptions::new();
    let file = options.write(true).open(path.join(TURN)).map_err(fault)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(TURN_PAUSE).await,
            Err(TryLockError::Error(error)) => return Err(fault(error)),
        }
    }
}
