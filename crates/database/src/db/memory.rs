//! Databases in memory, on SQLite.

use super::{Db, readers};
use crate::error::Result;
use crate::memory::Disk;
use crate::migrate::{self, Schema};
use crate::sqlite::Options;
use crate::writer::Writer;

impl Db {
    /// Opens the database of this name, and makes its tables if it is new.
    pub fn in_memory(name: &str, disk: Disk, schema: &Schema) -> Result<Self> {
        let options = Options::in_memory(name);
        let mut writer = options.connect()?;
        migrate::sqlite(&mut writer, schema.sqlite)?;
        Ok(Self::Sqlite {
            readers: readers(options)?,
            writer: Writer::start_in_place(writer, disk),
        })
    }
}
