//! Held accounts: reload of their list, and settlement of their queued recipients.

use crate::context::{Context, retry_read};
use crate::error::within;
use domain::AccountId;
use std::sync::Arc;
use store::{Revision, Store};
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

/// Holds or releases the queued recipients of a sub-account whose status has changed. Recipients
/// that are not reached in time follow in the background.
pub(crate) async fn settle_queued(store: &Store, account: AccountId, now_ms: i64) {
    let held = store.held_batches();
    let settled = within(async { Ok(held.settle_queued(account, now_ms).await?) });
    if let Err(error) = settled.await {
        tracing::warn!(
            account.id = account.0, %error,
            "sub-account: queued recipients not settled at once, they follow in the background"
        );
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
