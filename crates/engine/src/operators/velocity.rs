//! The operations on paused blocks of numbers.

use super::accounts::account;
use super::actor::Actor;
use super::error::{OperationError, Result};
use super::page::{Page, PageRequest};
use domain::AccountId;
use domain::search::List;
use domain::velocity::Block;
use store::{PausedBlock, Store};

/// Paused blocks of numbers: list, release.
pub struct Velocity {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Velocity {
    /// Returns a page of the paused blocks, newest first.
    pub async fn paused(self, request: &PageRequest) -> Result<Page<PausedBlock>> {
        let now_ms = self.actor.clock().now_ms();
        let behind = request.behind(List::PausedBlocks, "")?;
        let rows = self
            .store
            .paused_blocks()
            .list(now_ms, behind, request.rows())
            .await?;
        Ok(request.page(List::PausedBlocks, "", rows))
    }

    /// Ends a pause. A running server accepts sends to the block within a second.
    pub async fn release(self, id: AccountId, block: Block) -> Result<()> {
        account(&self.store, id).await?;
        let released = self
            .store
            .paused_blocks()
            .release(id, block, self.actor.now())
            .await?;
        released
            .then_some(())
            .ok_or(OperationError::NotPaused(block))
    }
}
