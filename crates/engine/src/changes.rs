//! Stops of messages: a pause or a cancel is completed step by step, whichever node requested it.

use database::Result;
use std::time::Duration;
use store::{Settled, Stop, Store};
use tokio::time::{Instant, sleep};

/// Longest time for the completion of a stop. A dead node is removed in less.
const COMPLETE_TIMEOUT: Duration = Duration::from_secs(8);
/// Delay between two steps. It doubles from the first to the last.
const FIRST_STEP_INTERVAL: Duration = Duration::from_millis(10);
const LAST_STEP_INTERVAL: Duration = Duration::from_millis(200);

/// Makes one step of a stop. Returns `true` if the stop is complete: no recipient waits and no node
/// has an unsent one.
pub(crate) async fn advance(
    store: &Store,
    stop: &Stop,
    now_ms: i64,
    settled: impl Fn(Settled),
) -> Result<bool> {
    let changes = store.changes();
    let result = changes.step(stop, now_ms).await?;
    settled(result.settled);
    if !result.is_done {
        return Ok(false);
    }
    if stop.cancels {
        return changes
            .finish_cancel(stop.bucket, stop.message, now_ms)
            .await;
    }
    // A rejected recipient may come back while a node has a batch, and must not be sent then.
    if !result.is_claimed {
        changes.forget_pause(stop).await?;
    }
    Ok(true)
}

/// Makes the steps of a stop until it is complete. Returns `false` at the timeout.
pub(crate) async fn complete(
    store: &Store,
    stop: &Stop,
    now_ms: impl Fn() -> i64,
    settled: impl Fn(Settled),
) -> Result<bool> {
    let deadline = Instant::now() + COMPLETE_TIMEOUT;
    let mut pause = FIRST_STEP_INTERVAL;
    while !advance(store, stop, now_ms(), &settled).await? {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        sleep(pause).await;
        pause = LAST_STEP_INTERVAL.min(2 * pause);
    }
    Ok(true)
}
