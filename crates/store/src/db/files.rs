//! The files of an embedded database: its owner alone reads them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::Path;

/// It holds numbers and texts. What SQLite makes beside a database has the mode and the owner of the database.
pub(crate) const MODE: u32 = 0o600;

/// Makes a file of a data directory where it is not there.
pub(crate) fn make(directory: &Path, name: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(MODE);
    match options.open(directory.join(name)) {
        Ok(file) => give_away(&file, directory),
        // It is not opened: to close a database ends the locks that this process has on it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Gives a file to the owner of its directory. Only root makes any for others, and a service whose files were root's
/// would not start.
pub(crate) fn give_away(file: &File, directory: &Path) -> io::Result<()> {
    let (maker, owner) = (file.metadata()?.uid(), fs::metadata(directory)?);
    if maker == 0 && owner.uid() != maker {
        fchown(file, Some(owner.uid()), Some(owner.gid()))?;
    }
    Ok(())
}
