//! The commands about the configuration of nodes that run.

use super::actor::Actor;
use super::error::Result;
use store::{Store, Verification as Checked};

/// The installation: reload, verify.
pub struct Configuration {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Configuration {
    /// Asks all nodes that share the database to read their configuration again, each its own file; gives how often that was
    /// asked. They notice it within a second.
    pub async fn reload(self) -> Result<i64> {
        Ok(self.store.ask_reload(self.actor.now()).await?)
    }

    /// Recomputes every balance from the ledger and checks what must always hold.
    pub async fn verify(self) -> Result<Checked> {
        Ok(self.store.verify().await?)
    }
}
