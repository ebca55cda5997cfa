//! SQLite in memory.

use super::{Db, Schema, open, readers};
use crate::error::Result;
use crate::memory::Disk;
use crate::sqlite::Options;
use crate::writer::Writer;
use sqlx::ConnectOptions;

impl Db {
    /// Opens the database of this name, and makes its tables where it is new.
    pub async fn in_memory(name: &str, disk: Disk, schema: &Schema) -> Result<Self> {
        let options = Options::in_memory(name);
        let mut writer = options.connect().await?;
        open::migrate(&schema.sqlite, &mut writer).await?;
        Ok(Self::Sqlite {
            readers: readers(options).await?,
            writer: Writer::start_in_place(writer, disk),
        })
    }
}
