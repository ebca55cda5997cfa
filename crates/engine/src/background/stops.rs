//! Stopped messages: their list, and the completion of stops that no request completes any more.

use crate::changes;
use crate::context::{Context, retry_read};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Period of the reads of stopped messages. Hints make them sooner.
const STOPS_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of stopped messages that are read. Further ones wait.
const MAX_STOPS: usize = 10_000;
/// Age from which a stop is completed here. Its request may have ended with its node.
const ABANDONED_AFTER_MS: i64 = 3_000;

/// Reads the stopped messages again and again. Workers put back the recipients of new ones. Runs
/// until the engine ends.
pub(crate) async fn follow(context: Arc<Context>) {
    loop {
        let stops = retry_read("stopped messages cannot be read", || {
            context.store.changes().stops(MAX_STOPS)
        })
        .await;
        let messages = stops.into_iter().map(|stop| stop.message).collect();
        if context.stops.set(messages) {
            let live = context.live();
            live.carriers.iter().for_each(|carrier| carrier.withhold());
        }
        // The end of the wait means that it is time to read again.
        let _ = timeout(STOPS_INTERVAL, context.stops.changed()).await;
    }
}

/// Completes stops whose requests have ended: with their node, or at their timeout.
pub(crate) async fn complete(context: &Arc<Context>) -> database::Result<()> {
    let stops = context.store.changes().stops(MAX_STOPS).await?;
    let now_ms = context.clock.now_ms();
    for stop in stops {
        let is_old = now_ms - stop.requested_at_ms >= ABANDONED_AFTER_MS;
        if is_old && context.nodes.is_mine(stop.bucket) {
            let settled = |settled| context.settled(settled);
            changes::advance(&context.store, &stop, now_ms, settled).await?;
        }
    }
    Ok(())
}
