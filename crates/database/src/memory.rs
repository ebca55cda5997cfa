//! A database in memory, for tests: SQLite without a disk, and a disk that does as it is told.

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
