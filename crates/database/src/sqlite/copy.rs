//! Copies of an embedded database, each in one file.

use super::connection::SqliteConnection;
use super::options::{BUSY_TIMEOUT, Options};
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::migrate;
use crate::schema::{Migration, Schema};
use crate::tx::{SqliteTx, Tx};
use std::io;
use std::path::Path;

/// SQLite's codes for a missing table, and for a file that is not a database.
const OF_OTHERS: [&str; 2] = ["1", "26"];

/// Opens a copy for reading. It returns `None` if the file is not a database of ogene.
pub fn open_copy(file: &Path, schema: &Schema) -> Result<Option<SqliteConnection>> {
    match try_open(file, schema) {
        Err(Error::Database(failure))
            if failure
                .code()
                .is_some_and(|code| OF_OTHERS.contains(&&*code)) =>
        {
            Ok(None)
        }
        opened => opened,
    }
}

fn try_open(file: &Path, schema: &Schema) -> Result<Option<SqliteConnection>> {
    let mut connection = options(file).read_only().connect()?;
    // The checksum of the first migration identifies a database of ogene. Until the first release
    // that migration may be edited, and a copy from before the edit is then not recognised.
    let first: Vec<Vec<u8>> = connection.fetch(
        "select checksum from _migrations where version = (select min(version) from _migrations)",
        &[],
        1,
    )?;
    let ours = schema.sqlite.first().map(Migration::checksum);
    let is_ours = first.into_iter().next() == ours;
    Ok(is_ours.then_some(connection))
}

/// Writes a database, as it is at this moment, into an empty file. The copy is durable only after
/// the caller syncs the file.
pub fn copy(mut from: SqliteConnection, file: &Path) -> Result<()> {
    let name = file.to_str().ok_or_else(|| {
        let fault = io::Error::new(io::ErrorKind::InvalidFilename, "its path is not UTF-8");
        Error::from(Failure::Io(fault))
    })?;
    from.execute("vacuum into $1", &[name.into()])?;
    from.close()
}

/// Opens a copy that nobody else uses, and brings its schema up to date. The copy keeps its journal
/// mode, so that one file remains after closing.
pub fn upgrade(file: &Path, schema: &Schema) -> Result<()> {
    let mut connection = options(file).connect()?;
    migrate::sqlite(&mut connection, schema.sqlite)?;
    connection.close()
}

/// A table, index, view or trigger: its type, its name and how it is made.
type Object = (String, String, String);

/// Returns the first difference between the schema of an up-to-date copy and the one that the
/// migrations make. An object may be added, missing or changed. An added trigger, for example,
/// would run with every change.
pub fn difference(file: &Path, schema: &Schema) -> Result<Option<String>> {
    let mut fresh = Options::new(Path::new(":memory:"), BUSY_TIMEOUT)
        .create()
        .connect()?;
    migrate::sqlite(&mut fresh, schema.sqlite)?;
    let ours = objects(&mut fresh)?;
    let found = objects(&mut options(file).read_only().connect()?)?;
    let other = found.iter().find(|object| !ours.contains(object));
    let other = other.map(|(kind, name, _)| format!("has the {kind} {name:?}"));
    let missing = || {
        let missing = ours.iter().find(|object| !found.contains(object));
        missing.map(|(kind, name, _)| format!("lacks the {kind} {name:?}"))
    };
    Ok(other.or_else(missing))
}

fn objects(connection: &mut SqliteConnection) -> Result<Vec<Object>> {
    // Names with this prefix are reserved for SQLite. The library makes the list of migrations.
    connection.fetch(
        "select type, name, case name when '_migrations' then '' else coalesce(sql, '') end
         from sqlite_schema where substr(name, 1, 7) <> 'sqlite_'
         order by type, name",
        &[],
        usize::MAX,
    )
}

/// Opens a copy that nobody else uses, to read it.
pub fn read_copy(file: &Path) -> Result<Tx> {
    let connection = options(file).read_only().connect()?;
    Ok(Tx::Sqlite(Box::new(SqliteTx::Writer(connection))))
}

fn options(file: &Path) -> Options {
    Options::new(file, BUSY_TIMEOUT)
}
