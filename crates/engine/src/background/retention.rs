//! Retention: removes old data in small steps, so that it does not disturb the load. It covers
//! message ids of carriers, receipts as they came, sandbox messages, and messages and texts if the
//! operator sets a limit.

use crate::context::Context;
use crate::context::metrics;
use crate::context::plan::SANDBOX;
use crate::settings::Retention;
use database::Outage;
use domain::{Bucket, MessageId};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::{CarrierIdKey, DeadKey, ReceiptKey, Removed, TextCursor};

/// Period of the removal while there is old data.
const BUSY_INTERVAL: Duration = Duration::from_secs(2);
/// Period of the removal while there is none.
const IDLE_INTERVAL: Duration = Duration::from_mins(1);
/// Pause after each step, for other users of the database.
const STEP_PAUSE: Duration = Duration::from_millis(10);
/// Maximum number of steps for one kind of data in a bucket.
const MAX_STEPS: usize = 40;
/// Period of the sweeps of dead callbacks. They have no index by age, so each sweep reads all of
/// them.
const DEAD_INTERVAL_MS: i64 = 3_600_000;
/// Period of the sweeps of message ids of carriers.
const CARRIER_IDS_INTERVAL_MS: i64 = 86_400_000;
/// Period of the sweeps of message ids of the sandbox.
const SIMULATED_INTERVAL_MS: i64 = 3_600_000;
/// Period of the sweeps of receipts. A sweep also reads young ones of messages that were sent long
/// after their acceptance.
const RECEIPTS_INTERVAL_MS: i64 = 3_600_000;
/// Retention of message ids of carriers. The store looks for the page of a receipt 7 days back.
/// Messages are kept at least as long.
const CARRIER_IDS_MS: i64 = 8 * 86_400_000;

/// The kinds of data that are removed, in this order.
#[derive(Clone, Copy)]
enum DataKind {
    Texts,
    DeadCallbacks,
    Messages,
    Simulated,
    CarrierIds,
    SimulatedCarrierIds,
    Receipts,
}

impl DataKind {
    const ALL: [Self; 7] = [
        Self::Texts,
        Self::DeadCallbacks,
        Self::Messages,
        Self::Simulated,
        Self::CarrierIds,
        Self::SimulatedCarrierIds,
        Self::Receipts,
    ];

    /// Returns the retention of this kind, or `None` if it is kept for ever.
    fn kept_ms(self, retention: Retention) -> Option<i64> {
        match self {
            Self::Texts => retention.bodies_ms,
            Self::DeadCallbacks | Self::Messages => retention.messages_ms,
            // Sandbox data has a retention of its own.
            Self::Simulated | Self::SimulatedCarrierIds => Some(retention.sandbox_ms),
            // No receipt needs older ids, however long messages are kept.
            Self::CarrierIds => Some(CARRIER_IDS_MS),
            Self::Receipts => Some(retention.receipts_ms),
        }
    }
}

/// A sweep over a key range. It has a position while it runs, and a pause after its end.
struct Sweep<K> {
    position: Option<K>,
    paused_until_ms: i64,
}

impl<K> Default for Sweep<K> {
    fn default() -> Self {
        Self {
            position: None,
            paused_until_ms: 0,
        }
    }
}

impl<K> Sweep<K> {
    /// Performs a step, except in a pause. Returns `true` if the sweep continues.
    async fn step<F>(
        &mut self,
        now_ms: i64,
        rest_ms: i64,
        remove: impl FnOnce(Option<K>) -> F,
    ) -> database::Result<bool>
    where
        F: Future<Output = database::Result<Removed<K>>>,
    {
        if self.position.is_none() && now_ms < self.paused_until_ms {
            return Ok(false);
        }
        let removed = remove(self.position.take()).await?;
        if removed.next.is_none() {
            self.paused_until_ms = now_ms + rest_ms;
        }
        self.position = removed.next;
        Ok(self.position.is_some())
    }
}

/// The positions of the removal in a bucket. They are not stored, so a new process starts again.
#[derive(Default)]
struct Position {
    texts: Option<TextCursor>,
    messages: Option<MessageId>,
    simulated: Option<MessageId>,
    dead: Sweep<DeadKey>,
    carrier_ids: Sweep<CarrierIdKey>,
    simulated_carrier_ids: Sweep<CarrierIdKey>,
    receipts: Sweep<ReceiptKey>,
}

/// Removes old data until the engine ends.
pub(crate) async fn run(context: Arc<Context>) {
    let mut positions = HashMap::new();
    let outage = Outage::of("old data cannot be removed");
    loop {
        let retention = context.live().retention;
        let pause = match outage.note(remove(&context, retention, &mut positions).await) {
            Some(true) => BUSY_INTERVAL,
            Some(false) | None => IDLE_INTERVAL,
        };
        tokio::time::sleep(pause).await;
    }
}

/// Performs some steps in each bucket of this node. Returns `true` if more old data may be left.
async fn remove(
    context: &Context,
    retention: Retention,
    positions: &mut HashMap<Bucket, Position>,
) -> database::Result<bool> {
    let mut more = false;
    for bucket in context.store.buckets() {
        for kind in DataKind::ALL {
            let Some(kept_ms) = kind.kept_ms(retention) else {
                continue;
            };
            let position = positions.entry(bucket).or_default();
            let mut left = true;
            for _ in 0..MAX_STEPS {
                left = context.nodes.is_mine(bucket)
                    && position.step(context, bucket, kind, kept_ms).await?;
                if !left {
                    break;
                }
                tokio::time::sleep(STEP_PAUSE).await;
            }
            more |= left;
        }
    }
    Ok(more | remove_inbound(context, retention).await?)
}

/// Removes some old inbound messages and texts. The node of the first bucket does so for all
/// accounts. Returns `true` if more may be left.
async fn remove_inbound(context: &Context, retention: Retention) -> database::Result<bool> {
    if !context.nodes.is_mine(Bucket(0)) {
        return Ok(false);
    }
    let (inbound, now_ms) = (context.store.inbound_messages(), context.clock.now_ms());
    let mut more = false;
    for (kept_ms, bodies_only) in [(retention.bodies_ms, true), (retention.messages_ms, false)] {
        if let Some(kept_ms) = kept_ms {
            more |= inbound.remove_old(now_ms - kept_ms, bodies_only).await?;
        }
    }
    Ok(more)
}

impl Position {
    /// Performs one step. Returns `true` if more old data may be left.
    async fn step(
        &mut self,
        context: &Context,
        bucket: Bucket,
        kind: DataKind,
        kept_ms: i64,
    ) -> database::Result<bool> {
        let (store, now_ms) = (&context.store, context.clock.now_ms());
        let before_ms = now_ms - kept_ms;
        match kind {
            DataKind::Texts => {
                let cursor = self.texts.take();
                self.texts = store
                    .retention()
                    .remove_texts(bucket, before_ms, cursor)
                    .await?
                    .next;
                Ok(self.texts.is_some())
            }
            DataKind::Messages => {
                let after = self.messages.take();
                let removed = store
                    .retention()
                    .remove_messages(bucket, before_ms, after)
                    .await?;
                metrics::removed(removed.count);
                self.messages = removed.next;
                Ok(self.messages.is_some())
            }
            DataKind::Simulated => {
                let after = self.simulated.take();
                let removed = store
                    .retention()
                    .remove_simulated(bucket, SANDBOX, before_ms, after)
                    .await?;
                metrics::removed(removed.count);
                self.simulated = removed.next;
                Ok(self.simulated.is_some())
            }
            DataKind::SimulatedCarrierIds => {
                let remove = |after| {
                    let retention = store.retention();
                    retention.remove_parts(bucket, before_ms, after, Some(SANDBOX))
                };
                let sweep = &mut self.simulated_carrier_ids;
                sweep.step(now_ms, SIMULATED_INTERVAL_MS, remove).await
            }
            DataKind::Receipts => {
                let remove = |after| {
                    let retention = store.retention();
                    retention.remove_receipts(bucket, before_ms, after)
                };
                let sweep = &mut self.receipts;
                sweep.step(now_ms, RECEIPTS_INTERVAL_MS, remove).await
            }
            DataKind::DeadCallbacks => {
                let remove = |after| {
                    let retention = store.retention();
                    retention.remove_dead_callbacks(bucket, before_ms, after)
                };
                self.dead.step(now_ms, DEAD_INTERVAL_MS, remove).await
            }
            DataKind::CarrierIds => {
                let remove = |after| {
                    let retention = store.retention();
                    retention.remove_parts(bucket, before_ms, after, None)
                };
                let sweep = &mut self.carrier_ids;
                sweep.step(now_ms, CARRIER_IDS_INTERVAL_MS, remove).await
            }
        }
    }
}
