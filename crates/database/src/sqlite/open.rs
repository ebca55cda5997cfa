//! Opening an embedded database, in a directory or in memory.

use super::connection::SqliteConnection;
use super::files::{FILE, has_orphaned_log, lock_opening, make, prepare_directory, sync_directory};
use super::options::{BUSY_TIMEOUT, Options};
use super::reader_pool::ReaderPool;
use crate::error::{Error, Result};
#[cfg(feature = "test-support")]
use crate::memory::Disk;
use crate::migrate;
use crate::schema::Schema;
use crate::writer::Writer;
use std::path::Path;

/// SQLite's readers beside its one writer.
const READERS: u32 = 3;

/// Page size of a new file. A commit writes every touched page whole, and one message touches a
/// dozen.
const PAGE_BYTES: &str = "2048";

/// Page cache of the writer in kibibytes (negative, as SQLite defines it). It keeps the ends of the
/// tables and fits into the caches of the processor (decision 0032).
const WRITER_KEEPS: &str = "pragma cache_size = -2000";

/// Opens the database of a directory, or makes one if there is none.
pub(crate) async fn directory(path: &Path, schema: &Schema) -> Result<(Writer, ReaderPool)> {
    prepare_directory(path)?;
    let _lock = lock_opening(path).await?;
    if has_orphaned_log(path).map_err(|source| Error::directory(path, source))? {
        return Err(Error::LogAlone(path.display().to_string()));
    }
    make(path, FILE).map_err(|source| Error::directory(path, source))?;
    let opened = with(Options::new(&path.join(FILE), BUSY_TIMEOUT), schema)?;
    // The file and its log now have their names, and keep them while the database is open.
    sync_directory(path).map_err(|source| Error::directory(path, source))?;
    Ok(opened)
}

/// Opens the database of this name in memory, and makes its tables if it is new.
#[cfg(feature = "test-support")]
pub(crate) fn in_memory(name: &str, disk: Disk, schema: &Schema) -> Result<(Writer, ReaderPool)> {
    let options = Options::in_memory(name);
    let mut writer = options.connect()?;
    migrate::sqlite(&mut writer, schema.sqlite)?;
    let readers = readers(options)?;
    Ok((Writer::start_task(writer, disk), readers))
}

fn with(options: Options, schema: &Schema) -> Result<(Writer, ReaderPool)> {
    let options = options
        .pragma("page_size", PAGE_BYTES)
        .pragma("journal_mode", "wal")
        .pragma("synchronous", "full")
        .pragma("cache_size", "-16000");
    let mut writer = options.connect()?;
    read_back(&mut writer)?;
    writer.disable_auto_checkpoint()?;
    // A process that ended with a failed sync may have left log pages in the system's memory alone.
    // Later writes would be lost with them, so the log is checkpointed first.
    writer.checkpoint()?;
    migrate::sqlite(&mut writer, schema.sqlite)?;
    // This setting follows the migrations. A migration may sort a whole table, which memory may not
    // hold, and is faster when its connection has more memory.
    writer.execute_script("pragma temp_store = memory")?;
    writer.execute_script(WRITER_KEEPS)?;
    let readers = readers(options)?;
    Ok((Writer::start(writer)?, readers))
}

fn readers(options: Options) -> Result<ReaderPool> {
    let options = options
        .pragma("cache_size", "-4000")
        .pragma("temp_store", "memory")
        .pragma("query_only", "on");
    ReaderPool::new(options, READERS)
}

/// A failed switch to WAL is silent unless its result is read.
fn read_back(connection: &mut SqliteConnection) -> Result<()> {
    let journal: String = connection.fetch_one("pragma journal_mode", &[])?;
    let synchronous: i64 = connection.fetch_one("pragma synchronous", &[])?;
    let foreign_keys: i64 = connection.fetch_one("pragma foreign_keys", &[])?;
    for (setting, value, wanted, found) in [
        ("journal_mode", "wal", "wal", journal),
        ("synchronous", "2", "full (2)", synchronous.to_string()),
        ("foreign_keys", "1", "on (1)", foreign_keys.to_string()),
    ] {
        if found != value {
            return Err(Error::Setting {
                setting,
                wanted,
                found,
            });
        }
    }
    Ok(())
}
