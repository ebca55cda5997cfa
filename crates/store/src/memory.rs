//! A database in memory, for tests: SQLite without a disk, and a disk that does as it is told.

use crate::Store;
use crate::db::Db;
use crate::error::Result;
use std::sync::Arc;
use std::time::Duration;

/// What the disk does with a commit.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Verdict {
    /// It is made.
    #[default]
    Made,
    /// There is no room for anything more.
    Full,
    /// It fails.
    Failed,
}

/// How one commit goes. A process may die before it, and between it and the answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Commit {
    /// How long it takes until it is made.
    pub before: Duration,
    /// What becomes of it.
    pub verdict: Verdict,
    /// How long it takes until those who wait for it know.
    pub after: Duration,
}

/// Asked before each commit.
pub type Disk = Arc<dyn Fn() -> Commit + Send + Sync>;

impl Store {
    /// Opens a database in memory. All that opens the same name in this process has the same one, which lasts as
    /// long as one of them does. Changes are made by a task of the runtime that this is called in, and nothing
    /// runs in a thread of its own.
    pub async fn in_memory(name: &str, disk: Disk) -> Result<Self> {
        let db = Db::in_memory(name, disk).await?;
        Ok(Self::of(db))
    }
}
