//! The operations on the configuration of running nodes.

use super::actor::Actor;
use super::error::Result;
use store::{Store, Verification as Checked, VerifyProgress};

/// The installation: reload, verify.
pub struct Configuration {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Configuration {
    /// Requests that all nodes read their own configuration files again, which they do within a
    /// second. Returns the number of requests so far.
    pub async fn reload(self) -> Result<i64> {
        Ok(self.store.revisions().ask_reload(self.actor.now()).await?)
    }

    /// Recomputes every balance from the ledger, and checks the invariants of the database.
    pub async fn verify(self) -> Result<Checked> {
        Ok(self.store.upkeep().verify().await?)
    }

    /// Verifies as [`Self::verify`] does, and counts the completed checks.
    pub async fn verify_with(self, progress: &VerifyProgress) -> Result<Checked> {
        Ok(self.store.upkeep().verify_with(progress).await?)
    }
}
