//! The commands about blocks of numbers that are paused.

use super::accounts::account;
use super::actor::Actor;
use super::error::{OperationError, Result};
use domain::AccountId;
use domain::velocity::Block;
use store::{PausedBlock, Store};

/// Paused blocks of numbers: list, release.
pub struct Velocity {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Velocity {
    /// The blocks that are paused now, the latest first.
    pub async fn paused(self) -> Result<Vec<PausedBlock>> {
        Ok(self
            .store
            .paused_blocks(self.actor.clock().now_ms())
            .await?)
    }

    /// Ends a pause; a running server sends there again within a second.
    pub async fn release(self, id: AccountId, block: Block) -> Result<()> {
        account(&self.store, id).await?;
        let released = self
            .store
            .release_block(id, block, self.actor.now())
            .await?;
        released
            .then_some(())
            .ok_or(OperationError::NotPaused(block))
    }
}
