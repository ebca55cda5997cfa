//! What an operator does about blocks of numbers that are paused.

use super::accounts::account;
use super::actor::Operator;
use super::error::{AdminError, Result};
use domain::AccountId;
use domain::velocity::Block;
use store::{PausedBlock, Store};

/// The blocks that are paused now, the latest first.
pub async fn paused_blocks(store: &Store, operator: &Operator) -> Result<Vec<PausedBlock>> {
    Ok(store.paused_blocks(operator.clock().now_ms()).await?)
}

/// Ends a pause; a running server sends there again within a second.
pub async fn release_block(
    store: &Store,
    operator: &Operator,
    id: AccountId,
    block: Block,
) -> Result<()> {
    account(store, id).await?;
    let released = store.release_block(id, block, operator.now()).await?;
    released.then_some(()).ok_or(AdminError::NotPaused(block))
}
