//! Accounts that may not send: what is held of them.

use crate::context::{Context, read_at_last};
use std::sync::Arc;
use store::Revision;
use tokio::sync::watch;

/// Reads them at the start and whenever the revision changes, and has what is in hand looked through. Runs until the
/// engine ends.
pub(crate) async fn follow(shared: Arc<Context>, mut revision: watch::Receiver<Revision>) {
    loop {
        let held = read_at_last("held accounts cannot be read", || shared.store.holds()).await;
        if shared.holds.set(held.into_keys().collect()) {
            let live = shared.live();
            live.carriers.iter().for_each(|carrier| carrier.withhold());
        }
        if revision.changed().await.is_err() {
            return;
        }
    }
}

/// Settles what came to be held since an operator held it: it was in hand then, or is a second leg, or goes out again.
pub(crate) async fn settle(shared: &Arc<Context>) -> database::Result<()> {
    for bucket in shared.my_buckets() {
        let now_ms = shared.clock.now_ms();
        let settled = shared.store.settle_held(bucket, now_ms).await?;
        shared.settled(settled);
    }
    Ok(())
}
