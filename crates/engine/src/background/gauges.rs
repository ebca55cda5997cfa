//! Gauges of the queues in the database.

use crate::context::Context;
use crate::context::metrics::{self, Depths};
use domain::Bucket;
use domain::smpp_receipt::user_of;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{CALLBACK_STATES, Store};

/// The labels that have gauges.
#[derive(Default)]
pub(crate) struct Published {
    carriers: BTreeSet<String>,
    smpp_users: BTreeSet<String>,
}

fn zeros(names: &BTreeSet<String>) -> BTreeMap<String, i64> {
    names.iter().map(|name| (name.clone(), 0)).collect()
}

/// Measures the buckets of this node. The sum over all nodes is the total.
pub(crate) async fn measure_all(
    context: &Arc<Context>,
    published: &Mutex<Published>,
) -> database::Result<()> {
    // A carrier keeps its gauge at 0 when its queue is empty, even if it is not configured any
    // more. An SMPP user does too.
    let (zero, published_users) = {
        let mut published = published.lock();
        let carriers = &context.live().carriers;
        let names = carriers.iter().map(|carrier| carrier.name.to_string());
        published.carriers.extend(names);
        (zeros(&published.carriers), zeros(&published.smpp_users))
    };
    let mut depths = Depths {
        queued: zero.clone(),
        held: zero.clone(),
        in_doubt: zero,
        callbacks: CALLBACK_STATES.map(|state| (state.to_owned(), 0)).into(),
        smpp_waiting: published_users,
    };
    let quiet_until_ms = context.live().plan.quiet_until(context.clock.now_ms());
    for bucket in context.my_buckets() {
        add_queues(&context.store, bucket, quiet_until_ms, &mut depths).await?;
        add_callbacks(&context.store, bucket, &mut depths.callbacks).await?;
        add_smpp_users(&context.store, bucket, &mut depths.smpp_waiting).await?;
    }
    let mut published = published.lock();
    let carriers = depths.queued.keys().chain(depths.in_doubt.keys());
    published.carriers.extend(carriers.cloned());
    published
        .smpp_users
        .extend(depths.smpp_waiting.keys().cloned());
    drop(published);
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

/// Adds the receipts of a bucket that wait for SMPP users, by user.
async fn add_smpp_users(
    store: &Store,
    bucket: Bucket,
    waiting: &mut BTreeMap<String, i64>,
) -> database::Result<()> {
    for (destination, count) in store.outbox().waiting_by_user(bucket).await? {
        let system_id = user_of(&destination).unwrap_or_default();
        *waiting.entry(system_id.to_owned()).or_default() += count;
    }
    Ok(())
}
