//! A database in memory for tests: SQLite without a disk, and a simulated disk.

use std::sync::Arc;
use std::time::Duration;

/// The result of a commit on the simulated disk.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CommitVerdict {
    /// The commit succeeds.
    #[default]
    Made,
    /// The disk is full.
    Full,
    /// The commit fails.
    Failed,
}

/// The behaviour of one commit. A process may die before it, and between it and the answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Commit {
    /// The delay before the commit.
    pub before: Duration,
    /// The result of the commit.
    pub verdict: CommitVerdict,
    /// The delay between the commit and its answer.
    pub after: Duration,
}

/// The disk, called before each commit.
pub type Disk = Arc<dyn Fn() -> Commit + Send + Sync>;
