//! Hints: a node notifies the others of work, so that none waits for its next look.

use super::deadline::within;
use crate::context::Context;
use database::Outage;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The pause between two rings, however many there are.
const RING_PAUSE: Duration = Duration::from_millis(5);
/// How long nothing is heard until it is listened anew: the connection may have died without a word.
const SILENCE: Duration = Duration::from_secs(30);
/// The pause before listening again.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// Rings the other nodes. Runs until the engine ends.
pub(crate) async fn send(context: Arc<Context>) {
    let nodes = &context.nodes;
    loop {
        nodes.has_hints.notified().await;
        let hinted = std::mem::take(&mut *nodes.hinted.lock());
        let hinted: Vec<String> = hinted.into_iter().collect();
        if let Err(error) = within(context.store.notify(&hinted)).await {
            tracing::debug!(%error, "the other nodes were not rung; they look by themselves");
        }
        sleep(RING_PAUSE).await;
    }
}

/// Wakes carriers when another node rings for them. Runs until the engine ends.
pub(crate) async fn listen(context: Arc<Context>) {
    let outage = Outage::of("other nodes are not heard, and looked at instead");
    loop {
        match outage.note(context.store.listen().await) {
            Some(None) => return,
            Some(Some(mut hints)) => {
                while let Ok(Ok(name)) = timeout(SILENCE, hints.next()).await {
                    if let Some(carrier) = context.carrier(&name) {
                        carrier.arrived();
                    }
                }
            }
            None => {}
        }
        sleep(LISTEN_PAUSE).await;
    }
}
