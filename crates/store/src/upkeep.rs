//! Work that time causes: sweeps, retention, verification, backups, and maintenance of tables.

pub(crate) mod backup;
pub(crate) mod clock_step;
pub(crate) mod maintenance;
pub(crate) mod marks;
pub(crate) mod retention;
pub(crate) mod sweep;
pub(crate) mod verify;
mod verify_changes;
mod verify_inbound;
mod verify_sub_accounts;
mod verify_top_ups;

use crate::messages::duplicates::OpenWindows;
use backup::BackupError;
use database::{Db, Result};
use std::path::Path;
use std::sync::Arc;
use verify::{Verification, VerifyProgress};

/// The upkeep of a database as a whole.
#[derive(Clone, Copy)]
pub struct Upkeep<'s> {
    pub(crate) db: &'s Db,
    pub(crate) windows: &'s Arc<OpenWindows>,
}

impl Upkeep<'_> {
    /// Checks all invariants. It reads all messages, which takes long on a large database. It sees
    /// the database as of one moment, whatever changes meanwhile.
    pub async fn verify(self) -> Result<Verification> {
        self.verify_with(&VerifyProgress::default()).await
    }

    /// Checks all invariants as [`Self::verify`] does, and counts the completed checks.
    pub async fn verify_with(self, progress: &VerifyProgress) -> Result<Verification> {
        verify::verify(self.db, progress).await
    }

    /// Writes an embedded database into a new file, as of one moment, while it is in use. Returns
    /// the counts of the backup once it is verified and synced.
    pub async fn backup(self, file: &Path) -> std::result::Result<Verification, BackupError> {
        backup::backup(self.db, file).await
    }

    /// Adjusts the database after the clock was set by some milliseconds (negative for back) and
    /// shows `now_ms`. Open duplicate windows move with the clock.
    pub async fn follow_clock(self, now_ms: i64, set_by_ms: i64) -> Result<()> {
        clock_step::follow_clock(self.db, self.windows, now_ms, set_by_ms).await
    }

    /// Runs `analyze` on tables that PostgreSQL takes for empty and that are not.
    pub async fn gather_statistics(self) -> Result<()> {
        maintenance::gather_statistics(self.db).await
    }

    /// Vacuums queues that consist mostly of dead rows.
    pub async fn vacuum_queues(self) -> Result<()> {
        maintenance::vacuum_queues(self.db).await
    }
}
