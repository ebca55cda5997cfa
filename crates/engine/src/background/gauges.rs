//! Gauges of the queues in the database.

use crate::context::Context;
use crate::context::metrics::{self, Depths};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use store::CALLBACK_STATES;

/// Each node measures its own buckets: the sum over the nodes is the whole.
pub(crate) async fn measure_all(
    shared: &Arc<Context>,
    told: &Mutex<BTreeSet<String>>,
) -> database::Result<()> {
    // Each is told of, when none is left too: also one that is not configured any more.
    let none: BTreeMap<String, i64> = {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let carriers = &shared.live().carriers;
        told.extend(carriers.iter().map(|carrier| carrier.name.to_string()));
        told.iter().map(|name| (name.clone(), 0)).collect()
    };
    let mut depths = Depths {
        queued: none.clone(),
        held: none.clone(),
        in_doubt: none,
        callbacks: CALLBACK_STATES.map(|state| (state.to_owned(), 0)).into(),
    };
    let quiet_until_ms = shared.live().plan.quiet_until(shared.clock.now_ms());
    for bucket in shared.my_buckets() {
        let queues = shared
            .store
            .queue_depths(bucket, quiet_until_ms.unwrap_or(i64::MAX))
            .await?;
        for (carrier, recipients, held) in queues {
            *depths.held.entry(carrier.clone()).or_default() += held;
            *depths.queued.entry(carrier).or_default() += recipients;
        }
        for (carrier, recipients) in shared.store.doubt_counts(bucket).await? {
            *depths.in_doubt.entry(carrier).or_default() += recipients;
        }
        for (state, count) in shared.store.callback_counts(bucket).await? {
            *depths.callbacks.entry(state).or_default() += count;
        }
    }
    told.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .extend(depths.queued.keys().chain(depths.in_doubt.keys()).cloned());
    metrics::depths(depths);
    Ok(())
}
