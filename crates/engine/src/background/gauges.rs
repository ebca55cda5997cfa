//! Gauges of the queues in the database.

use crate::context::Context;
use crate::context::metrics::{self, Depths};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::CALLBACK_STATES;

/// Measures the buckets of this node. The sum over all nodes is the total.
pub(crate) async fn measure_all(
    context: &Arc<Context>,
    published: &Mutex<BTreeSet<String>>,
) -> database::Result<()> {
    // A carrier keeps its gauge at 0 when its queue is empty, even if it is not configured any
    // more.
    let zero: BTreeMap<String, i64> = {
        let mut published = published.lock();
        let carriers = &context.live().carriers;
        published.extend(carriers.iter().map(|carrier| carrier.name.to_string()));
        published.iter().map(|name| (name.clone(), 0)).collect()
    };
    let mut depths = Depths {
        queued: zero.clone(),
        held: zero.clone(),
        in_doubt: zero,
        callbacks: CALLBACK_STATES.map(|state| (state.to_owned(), 0)).into(),
    };
    let quiet_until_ms = context.live().plan.quiet_until(context.clock.now_ms());
    for bucket in context.my_buckets() {
        let queues = context
            .store
            .queues()
            .depths(bucket, quiet_until_ms.unwrap_or(i64::MAX))
            .await?;
        for (carrier, recipients, held) in queues {
            *depths.held.entry(carrier.clone()).or_default() += held;
            *depths.queued.entry(carrier).or_default() += recipients;
        }
        for (carrier, recipients) in context.store.queues().doubt_counts(bucket).await? {
            *depths.in_doubt.entry(carrier).or_default() += recipients;
        }
        for (state, count) in context.store.outbox().counts(bucket).await? {
            *depths.callbacks.entry(state).or_default() += count;
        }
    }
    published
        .lock()
        .extend(depths.queued.keys().chain(depths.in_doubt.keys()).cloned());
    metrics::depths(depths);
    Ok(())
}
