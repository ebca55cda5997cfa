//! Hints notify other nodes of new work, so that they do not wait for their next poll.

use super::deadline::within;
use crate::context::Context;
use crate::context::stops::STOP_HINT;
use database::Outage;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Minimum time between two notifications. Hints that arrive meanwhile share the next one.
const HINT_INTERVAL: Duration = Duration::from_millis(5);
/// Time without a hint after which the subscription is renewed, since its connection may have died
/// silently.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Delay before the subscription is renewed.
const LISTEN_RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Notifies the other nodes of queued hints. Runs until the engine ends.
pub(crate) async fn send(context: Arc<Context>) {
    let nodes = &context.nodes;
    loop {
        nodes.has_hints.notified().await;
        let hinted = std::mem::take(&mut *nodes.hinted.lock());
        let hinted: Vec<String> = hinted.into_iter().collect();
        if let Err(error) = within(context.store.nodes().notify(&hinted)).await {
            tracing::debug!(%error, "hints: not sent, the other nodes poll");
        }
        sleep(HINT_INTERVAL).await;
    }
}

/// Wakes carriers, and the reader of stopped messages, at hints of other nodes. Runs until the engine ends.
pub(crate) async fn listen(context: Arc<Context>) {
    let outage =
        Outage::of("hints of other nodes cannot be received, the database is polled instead");
    loop {
        match outage.note(context.store.nodes().listen().await) {
            Some(None) => return,
            Some(Some(mut hints)) => {
                while let Ok(Ok(name)) = timeout(SILENCE_TIMEOUT, hints.next()).await {
                    if name == STOP_HINT {
                        context.stops.note_change();
                    } else if let Some(carrier) = context.carrier(&name) {
                        carrier.arrived();
                    }
                }
            }
            None => {}
        }
        sleep(LISTEN_RETRY_INTERVAL).await;
    }
}
