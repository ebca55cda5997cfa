//! Failover: batches move from a carrier that is down, paused or removed to the next one.

use crate::context::Context;
use crate::context::carrier::Carrier;
use database::Outage;
use domain::Priority;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Batch, Claimed};

/// Time for which a carrier must be down before its batches move.
const FAIL_OVER_AFTER_MS: i64 = 5_000;
/// Delay before batches without another carrier are looked at again.
const NO_OTHER_RETRY_MS: i64 = 10_000;
/// Maximum number of recipients that move at a time.
const FAIL_OVER_RECIPIENTS: usize = 1_000;
/// Outage of the moves of batches, over all carriers.
static MOVES: Outage = Outage::of("batches cannot be moved to another carrier");

/// Notifies each carrier that has due batches. Returns the due time of the next other batch, if
/// there is one.
pub(crate) async fn note_due(context: &Context) -> database::Result<Option<i64>> {
    let next = context.store.queues().next_due().await?;
    let now_ms = context.clock.now_ms();
    let (due, later): (Vec<_>, Vec<_>) = next.into_iter().partition(|(_, at_ms)| *at_ms <= now_ms);
    let due: BTreeSet<String> = due.into_iter().map(|(name, _)| name).collect();
    due.iter()
        .filter_map(|name| context.carrier(name))
        .for_each(|carrier| carrier.arrived());
    Ok(later.into_iter().map(|(_, at_ms)| at_ms).min())
}

/// Returns `true` if the batches of a carrier must move. Only a node with bind slots can judge that
/// a carrier is down, and the carrier must be down on all nodes. A carrier that an operator paused
/// or drained moves them at once.
pub(crate) fn is_due(context: &Context, carrier: &Carrier, down_since_ms: i64) -> bool {
    let can_judge = carrier.settings.is_some() && !carrier.slots.borrow().is_empty();
    let is_stopped = !context.controls.of(&carrier.name).submits();
    let is_down = !carrier.is_up_anywhere()
        && context.clock.steady_ms() - down_since_ms >= FAIL_OVER_AFTER_MS;
    let submits = |other: &Carrier| context.submits_over(other);
    can_judge && (is_stopped || is_down) && context.live().has_alternative(carrier, submits)
}

/// Moves the batches of a carrier that is down. Logs a failure.
pub(crate) async fn fail_over(context: Arc<Context>, carrier: Arc<str>, now_ms: i64) {
    MOVES.note(move_batches(context, carrier, now_ms).await);
}

/// Moves the batches of a carrier to the next one of their gateway that is up. Returns `true` if
/// more batches can move now.
async fn move_batches(
    context: Arc<Context>,
    carrier: Arc<str>,
    now_ms: i64,
) -> database::Result<bool> {
    let claim = context.claim(&carrier, FAIL_OVER_RECIPIENTS, Priority::Bulk, now_ms);
    let claimed = context.store.claims().claim(claim).await?;
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
                .is_some_and(|other| context.submits_over(&other))
        });
        moved.entry(other).or_default().push(batch);
    }
    // Without another carrier, a repetition would claim the same batches again.
    let more = is_full && moved.keys().any(Option::is_some);
    for (other, batches) in moved {
        let due_ms = if other.is_some() {
            now_ms
        } else {
            now_ms + NO_OTHER_RETRY_MS
        };
        // One release after the other, so that they do not use up the database connections.
        let store = &context.store;
        let given = store
            .claims()
            .release(batches.clone(), due_ms, other.clone(), now_ms);
        if let Err(error) = given.await {
            MOVES.failed(&error);
            context.release(batches, due_ms, other);
        } else if let Some(other) = other.and_then(|name| context.carrier(&name)) {
            context.arrived(&other);
        }
    }
    Ok(more)
}

/// Moves the batches of carriers that are no longer configured, since no worker looks for them.
/// A batch without another carrier expires. Each such carrier is logged once.
pub(crate) async fn move_unconfigured(
    context: &Arc<Context>,
    reported: &Mutex<BTreeSet<String>>,
) -> database::Result<()> {
    let mut removed = BTreeSet::new();
    for bucket in context.my_buckets() {
        let carriers = context.store.queues().carriers(bucket).await?;
        removed.extend(
            carriers
                .into_iter()
                .filter(|name| context.carrier(name).is_none()),
        );
    }
    if removed.is_empty() {
        return Ok(());
    }
    // During a rolling restart another node may still have the carrier configured.
    let binds = context.store.nodes().binds().await?;
    let alive = context.nodes.alive();
    removed.retain(|name| {
        let binds = binds.get(name).into_iter().flatten();
        !binds
            .into_iter()
            .filter_map(|bind| bind.node)
            .any(|holder| alive.contains(&holder))
    });
    let now_ms = context.clock.now_ms();
    for name in removed {
        let is_new = reported.lock().insert(name.clone());
        if is_new {
            tracing::warn!(
                carrier = &*name,
                "carrier: not configured, its batches move to the next carrier or expire"
            );
        }
        let name: Arc<str> = name.into();
        let carriers = &context.live().carriers;
        let mut more = carriers
            .iter()
            .any(|other| other.settings.is_some() && context.submits_over(other));
        while more {
            // A task of its own, so that claimed batches are released even if the sweep is aborted.
            let moving = move_batches(Arc::clone(context), Arc::clone(&name), now_ms);
            let moved = tokio::spawn(moving).await;
            more = moved.map_err(|_| database::Error::Closed).flatten()?;
        }
    }
    Ok(())
}
