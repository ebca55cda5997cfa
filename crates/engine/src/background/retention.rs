//! Data past its retention is removed in small steps, beside the load: the carriers' ids of pages that no receipt can
//! mean any more, what the sandbox simulated, and, where an operator says so, old messages and texts.

use crate::context::Context;
use crate::context::metrics;
use crate::context::plan::SANDBOX;
use crate::settings::Retention;
use database::Outage;
use domain::{Bucket, MessageId};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::{CarrierIdKey, DeadKey, TextCursor};

/// How often old data is looked for while there is some.
const BUSY_INTERVAL: Duration = Duration::from_secs(2);
/// How often it is while there is none.
const IDLE_INTERVAL: Duration = Duration::from_mins(1);
/// The pause after a step, for those who have work.
const BREATH: Duration = Duration::from_millis(10);
/// Most steps of a kind in a bucket before the next one's turn.
const MAX_STEPS: usize = 40;
/// The pause between two sweeps of dead callbacks, which cannot be found by age: each reads all of them.
const DEAD_INTERVAL_MS: i64 = 3_600_000;
/// The same of the carriers' ids of pages, of which there are many.
const PARTS_INTERVAL_MS: i64 = 86_400_000;
/// The same of those that were simulated.
const SIMULATED_INTERVAL_MS: i64 = 3_600_000;
/// How long these are kept: no receipt means an older page (the store looks back for 7 days), and messages are kept
/// at least as long.
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
}

impl DataKind {
    const ALL: [Self; 6] = [
        Self::Texts,
        Self::DeadCallbacks,
        Self::Messages,
        Self::Simulated,
        Self::CarrierIds,
        Self::SimulatedCarrierIds,
    ];

    /// How long it is kept.
    fn kept_ms(self, retention: Retention) -> Option<i64> {
        match self {
            Self::Texts => retention.bodies_ms,
            Self::DeadCallbacks | Self::Messages => retention.messages_ms,
            // Nobody paid for it.
            Self::Simulated | Self::SimulatedCarrierIds => Some(retention.sandbox_ms),
            // Nobody needs them later, however long messages are kept.
            Self::CarrierIds => Some(CARRIER_IDS_MS),
        }
    }
}

/// A sweep along a key: where it stands, or until when it rests.
struct Sweep<K> {
    at: Option<K>,
    rests_until_ms: i64,
}

impl<K> Default for Sweep<K> {
    fn default() -> Self {
        Self {
            at: None,
            rests_until_ms: 0,
        }
    }
}

impl<K> Sweep<K> {
    fn rests(&self, now_ms: i64) -> bool {
        self.at.is_none() && now_ms < self.rests_until_ms
    }

    /// Goes on from there, or rests at the end; whether it has not come to its end.
    fn go_on(&mut self, next: Option<K>, now_ms: i64, rest_ms: i64) -> bool {
        if next.is_none() {
            self.rests_until_ms = now_ms + rest_ms;
        }
        self.at = next;
        self.at.is_some()
    }
}

/// How far the removal came in a bucket. Not kept: a new process begins from the start.
#[derive(Default)]
struct Position {
    texts: Option<TextCursor>,
    messages: Option<MessageId>,
    simulated: Option<MessageId>,
    dead: Sweep<DeadKey>,
    parts: Sweep<CarrierIdKey>,
    simulated_parts: Sweep<CarrierIdKey>,
}

/// Runs until the engine ends.
pub(crate) async fn run(context: Arc<Context>) {
    let mut places = HashMap::new();
    let outage = Outage::of("old data cannot be removed");
    loop {
        let retention = context.live().retention;
        let pause = match outage.note(remove(&context, retention, &mut places).await) {
            Some(true) => BUSY_INTERVAL,
            Some(false) | None => IDLE_INTERVAL,
        };
        tokio::time::sleep(pause).await;
    }
}

/// Takes some steps in each bucket of this node; whether more are to be taken.
async fn remove(
    context: &Context,
    retention: Retention,
    places: &mut HashMap<Bucket, Position>,
) -> database::Result<bool> {
    let mut more = false;
    for bucket in context.store.buckets() {
        for kind in DataKind::ALL {
            let Some(kept_ms) = kind.kept_ms(retention) else {
                continue;
            };
            let place = places.entry(bucket).or_default();
            let mut left = true;
            for _ in 0..MAX_STEPS {
                left = context.nodes.is_mine(bucket)
                    && place.step(context, bucket, kind, kept_ms).await?;
                if !left {
                    break;
                }
                tokio::time::sleep(BREATH).await;
            }
            more |= left;
        }
    }
    Ok(more)
}

impl Position {
    /// Takes a step; whether more are to be taken.
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
                self.texts = store.remove_texts(bucket, before_ms, cursor).await?.next;
                Ok(self.texts.is_some())
            }
            DataKind::Messages => {
                let after = self.messages.take();
                let removed = store.remove_messages(bucket, before_ms, after).await?;
                metrics::removed(removed.count);
                self.messages = removed.next;
                Ok(self.messages.is_some())
            }
            DataKind::Simulated => {
                let after = self.simulated.take();
                let removed = store
                    .remove_simulated(bucket, SANDBOX, before_ms, after)
                    .await?;
                metrics::removed(removed.count);
                self.simulated = removed.next;
                Ok(self.simulated.is_some())
            }
            DataKind::SimulatedCarrierIds if self.simulated_parts.rests(now_ms) => Ok(false),
            DataKind::SimulatedCarrierIds => {
                let after = self.simulated_parts.at.take();
                let removed = store.remove_parts(bucket, before_ms, after, Some(SANDBOX));
                let next = removed.await?.next;
                Ok(self
                    .simulated_parts
                    .go_on(next, now_ms, SIMULATED_INTERVAL_MS))
            }
            DataKind::DeadCallbacks if self.dead.rests(now_ms) => Ok(false),
            DataKind::DeadCallbacks => {
                let after = self.dead.at.take();
                let removed = store
                    .remove_dead_callbacks(bucket, before_ms, after)
                    .await?;
                Ok(self.dead.go_on(removed.next, now_ms, DEAD_INTERVAL_MS))
            }
            DataKind::CarrierIds if self.parts.rests(now_ms) => Ok(false),
            DataKind::CarrierIds => {
                let after = self.parts.at.take();
                let removed = store.remove_parts(bucket, before_ms, after, None).await?;
                Ok(self.parts.go_on(removed.next, now_ms, PARTS_INTERVAL_MS))
            }
        }
    }
}
