//! The migrations that make the tables.

use sha2::{Digest, Sha256};

/// The migrations of both databases, in the order of their versions.
#[derive(Debug)]
pub struct Schema {
    /// The migrations of SQLite.
    pub sqlite: &'static [Migration],
    /// The migrations of PostgreSQL.
    pub postgres: &'static [Migration],
}

/// One step of a schema. It is never edited once it is released.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The version, from 1.
    pub version: i64,
    /// The name.
    pub name: &'static str,
    /// The statements.
    pub sql: &'static str,
}

impl Migration {
    /// Returns the checksum of the statements.
    pub(crate) fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }
}
