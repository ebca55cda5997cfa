//! Gauges of the queues in the database.

use crate::context::Context;
use crate::context::metrics::{self, Depths};
use domain::Bucket;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{CALLBACK_STATES, Store};

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
        add_queues(&context.store, bucket, quiet_until_ms, &mut depths).await?;
        add_callbacks(&context.store, bucket, &mut depths.callbacks).await?;
    }
    published
        .lock()
        .extend(depths.queued.keys().chain(depths.in_doubt.keys()).cloned());
    metrics::depths(depths);
    Ok(())
}

/// Adds the recipients of a bucket that wait for carriers or are in doubt. `quiet_until_ms` is the
/// end of the quiet hours.
pub(crate) async fn add_queues(
    store: &Store,
    bucket: Bucket,
    quiet_until_ms: Option<i64>,
    depths: &mut Depths,
) -> database::Result<()> {
    let until_ms = quiet_until_ms.unwrap_or(i64::MAX);
    for (carrier, recipients, held) in store.queues().depths(bucket, until_ms).await? {
        *depths.held.entry(carrier.clone()).or_default() += held;
        *depths.queued.entry(carrier).or_default() += recipients;
    }
    for (carrier, recipients) in store.queues().doubt_counts(bucket).await? {
        *depths.in_doubt.entry(carrier).or_default() += recipients;
    }
    Ok(())
}

/// Adds the callbacks of a bucket by state.
pub(crate) async fn add_callbacks(
    store: &Store,
    bucket: Bucket,
    callbacks: &mut BTreeMap<String, i64>,
) -> database::Result<()> {
    for (state, count) in store.outbox().counts(bucket).await? {
        *callbacks.entry(state).or_default() += count;
    }
    Ok(())
}
