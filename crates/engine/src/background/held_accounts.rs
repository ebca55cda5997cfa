//! Held accounts: reload of their list, and settlement of their queued recipients.

use crate::context::{Context, retry_read};
use std::sync::Arc;
use store::Revision;
use tokio::sync::watch;

/// Reloads the held accounts at the start and at each new revision. Workers release the recipients
/// of newly held accounts. Runs until the engine ends.
pub(crate) async fn follow(context: Arc<Context>, mut revision: watch::Receiver<Revision>) {
    loop {
        let held = retry_read("held accounts cannot be read", || {
            context.store.accounts().holds()
        })
        .await;
        if context.holds.set(held.into_keys().collect()) {
            let live = context.live();
            live.carriers.iter().for_each(|carrier| carrier.withhold());
        }
        if revision.changed().await.is_err() {
            return;
        }
    }
}

/// Settles recipients that were put back after their account was held: from memory, as a second
/// leg, or as a retry.
pub(crate) async fn settle(context: &Arc<Context>) -> database::Result<()> {
    for bucket in context.my_buckets() {
        let now_ms = context.clock.now_ms();
        let settled = context
            .store
            .held_batches()
            .settle_held(bucket, now_ms)
            .await?;
        context.settled(settled);
    }
    Ok(())
}
