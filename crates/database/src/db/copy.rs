//! Copies of an embedded database, each in one file.

use super::{BUSY, Db, SqliteTx, Tx};
use crate::error::{Error, Failure, Result};
use crate::migrate::{self, Schema};
use crate::sqlite::{self, Options};
use std::io;
use std::path::Path;

/// SQLite's codes for a table that is not there, and for a file that is no database.
const OF_OTHERS: [&str; 2] = ["1", "26"];

impl Db {
    /// A connection of its own to an embedded database, for copying: neither the writer nor a reader waits for it.
    pub fn connect_to_copy(&self) -> Result<sqlite::Connection> {
        let Self::Sqlite { readers, .. } = self else {
            return Err(Error::Impossible(
                "a backup is made of an embedded database",
            ));
        };
        // `query_only` would refuse to write the copy, too.
        let options = Options::clone(readers.options())
            .pragma("query_only", "off")
            .read_only();
        options.connect()
    }
}

/// Opens a copy to read it, or gives nothing where it is no database of ogene.
pub fn open_copy(file: &Path, schema: &Schema) -> Result<Option<sqlite::Connection>> {
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

fn try_open(file: &Path, schema: &Schema) -> Result<Option<sqlite::Connection>> {
    let mut connection = options(file).read_only().connect()?;
    // What it was made by says whose it is: a migration is never edited.
    let first: Vec<Vec<u8>> = connection.fetch(
        "select checksum from _migrations where version = (select min(version) from _migrations)",
        &[],
        1,
    )?;
    let ours = schema.sqlite.first().map(migrate::Migration::checksum);
    let is_ours = first.into_iter().next() == ours;
    Ok(is_ours.then_some(connection))
}

/// Writes a database into an empty file, as it is at this moment. It is on no disk for certain before the file is
/// synced.
pub fn copy(mut from: sqlite::Connection, file: &Path) -> Result<()> {
    let name = file.to_str().ok_or_else(|| {
        let fault = io::Error::new(io::ErrorKind::InvalidFilename, "its path is not UTF-8");
        Error::from(Failure::Io(fault))
    })?;
    from.execute("vacuum into $1", &[name.into()])?;
    from.close()
}

/// Opens a copy that nobody else uses, and brings its schema up to date. It keeps the journal that it has, so that
/// there is one file alone once it is closed.
pub fn upgrade(file: &Path, schema: &Schema) -> Result<()> {
    let mut connection = options(file).connect()?;
    migrate::sqlite(&mut connection, schema.sqlite)?;
    connection.close()
}

/// A table, index, view or trigger: its type, its name and how it is made.
type Object = (String, String, String);

/// How the schema of a copy that is up to date differs from what the migrations make: the first of what it has, lacks or
/// makes in another way. A trigger, for one, would run with every change.
pub fn difference(file: &Path, schema: &Schema) -> Result<Option<String>> {
    let mut fresh = Options::new(Path::new(":memory:"), BUSY)
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

fn objects(connection: &mut sqlite::Connection) -> Result<Vec<Object>> {
    // Names that begin so are SQLite's own: nobody else can give them. The list of migrations is made by the library.
    connection.fetch(
        "select type, name, case name when '_migrations' then '' else coalesce(sql, '') end from sqlite_schema where substr(name, 1, 7) <> 'sqlite_'
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
    Options::new(file, BUSY)
}
