//! Accounts that may not send: what is held of them.

use crate::context::{Context, retry_read};
use std::sync::Arc;
use store::Revision;
use tokio::sync::watch;

/// Reads them at the start and whenever the revision changes, and has what is in hand looked through. Runs until the
/// engine ends.
pub(crate) async fn follow(context: Arc<Context>, mut revision: watch::Receiver<Revision>) {
    loop {
        let held = retry_read("held accounts cannot be read", || context.store.holds()).await;
        if context.holds.set(held.into_keys().collect()) {
            let live = context.live();
            live.carriers.iter().for_each(|carrier| carrier.withhold());
        }
        if revision.changed().await.is_err() {
            return;
        }
    }
}

/// Settles what came to be held since an operator held it: it was in hand then, or is a second leg, or goes out again.
pub(crate) async fn settle(context: &Arc<Context>) -> database::Result<()> {
    for bucket in context.my_buckets() {
        let now_ms = context.clock.now_ms();
        let settled = context.store.settle_held(bucket, now_ms).await?;
        context.settled(settled);
    }
    Ok(())
}
