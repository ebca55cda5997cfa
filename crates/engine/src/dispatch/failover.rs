//! Looking after what waits: what has become due, and what has to go to another carrier.

use crate::context::Context;
use crate::context::carrier::Carrier;
use database::Outage;
use domain::Priority;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Batch, Claimed};

/// How long a carrier may be down before what waits for it goes to the next one.
const FAIL_OVER_MS: i64 = 5_000;
/// How long what has no other carrier waits until that is looked at again.
const NO_OTHER_MS: i64 = 10_000;
/// Batches looked at for another carrier at a time, in recipients.
const FAIL_OVER_RECIPIENTS: usize = 1_000;
/// Moves of batches, of all carriers.
static MOVES: Outage = Outage::of("batches cannot be moved to another carrier");

/// Tells each carrier for which a batch is due.
pub(crate) async fn note_due(context: &Context) -> database::Result<()> {
    let due = context.store.due_carriers(context.clock.now_ms()).await?;
    due.iter()
        .filter_map(|name| context.carrier(name))
        .for_each(|carrier| carrier.arrived());
    Ok(())
}

/// Returns `true` if batches of a carrier that is down since then are to move. Only a node that has connections to lose
/// can see that a carrier is down, and only if no node has any.
pub(crate) fn is_due(context: &Context, carrier: &Carrier, down_since_ms: i64) -> bool {
    let judges = carrier.settings.is_some() && !carrier.slots.borrow().is_empty();
    judges
        && !carrier.is_up_anywhere()
        && context.clock.steady_ms() - down_since_ms >= FAIL_OVER_MS
        && context.live().has_alternative(carrier)
}

/// Moves what waits for a carrier that is down, and logs a failure.
pub(crate) async fn fail_over(context: Arc<Context>, carrier: Arc<str>, now_ms: i64) {
    MOVES.note(move_on(context, carrier, now_ms).await);
}

/// Moves what waits for a carrier that is down, or not there any more, to one that is up, in order of preference. Gives
/// whether more of it may be moved now.
async fn move_on(context: Arc<Context>, carrier: Arc<str>, now_ms: i64) -> database::Result<bool> {
    let claim = context.claim(&carrier, FAIL_OVER_RECIPIENTS, Priority::Bulk, now_ms);
    let claimed = context.store.claim(claim).await?;
    let recipients = claimed.iter().map(|one| one.batch.recipients.len());
    let is_full = recipients.sum::<usize>() >= FAIL_OVER_RECIPIENTS;
    let mut moved: BTreeMap<Option<Arc<str>>, Vec<Batch>> = BTreeMap::new();
    for Claimed { batch, content } in claimed {
        let others = batch.recipients.first().map(|&first| {
            let live = context.live();
            live.plan
                .other_carriers(content.gateway, batch.leg, first, &carrier)
        });
        let other = others.into_iter().flatten().find(|name| {
            context
                .carrier(name)
                .is_some_and(|other| other.is_up_anywhere())
        });
        moved.entry(other).or_default().push(batch);
    }
    // Batches that no other carrier takes would only be turned over.
    let more = is_full && moved.keys().any(Option::is_some);
    for (other, batches) in moved {
        let due_ms = if other.is_some() {
            now_ms
        } else {
            now_ms + NO_OTHER_MS
        };
        // Together, and one after the other: each by itself would take the connections of the database from all others.
        let store = &context.store;
        let given = store.release(batches.clone(), due_ms, other.clone(), now_ms);
        if let Err(error) = given.await {
            MOVES.failed(&error);
            context.release(batches, due_ms, other);
        } else if let Some(other) = other.and_then(|name| context.carrier(&name)) {
            context.arrived(&other);
        }
    }
    Ok(more)
}

/// Moves what waits for carriers that are not configured any more: nobody else looks for it. A batch that no carrier takes
/// ends when its time is over. The operator is told of each carrier once.
pub(crate) async fn move_strays(
    context: &Arc<Context>,
    reported: &Mutex<BTreeSet<String>>,
) -> database::Result<()> {
    let mut strays = BTreeSet::new();
    for bucket in context.my_buckets() {
        let carriers = context.store.batch_carriers(bucket).await?;
        strays.extend(
            carriers
                .into_iter()
                .filter(|name| context.carrier(name).is_none()),
        );
    }
    if strays.is_empty() {
        return Ok(());
    }
    // A node that was configured otherwise may have it, while nodes are restarted one by one.
    let binds = context.store.binds().await?;
    let alive = context.nodes.alive();
    strays.retain(|name| {
        let binds = binds.get(name).into_iter().flatten();
        !binds.into_iter().any(|bind| alive.contains(&bind.node))
    });
    let now_ms = context.clock.now_ms();
    for name in strays {
        let is_new = reported.lock().insert(name.clone());
        if is_new {
            tracing::warn!(
                carrier = &*name,
                "batches wait for a carrier that is not configured: they go to the next one of their gateway, or end when \
                 their time is over; configure it again if they are to go there"
            );
        }
        let name: Arc<str> = name.into();
        let carriers = &context.live().carriers;
        let mut more = carriers
            .iter()
            .any(|other| other.settings.is_some() && other.is_up_anywhere());
        while more {
            // In a task of its own: who is claimed is given back, also where the sweep is aborted now.
            let moving = move_on(Arc::clone(context), Arc::clone(&name), now_ms);
            let moved = tokio::spawn(moving).await;
            more = moved.map_err(|_| database::Error::Closed).flatten()?;
        }
    }
    Ok(())
}
