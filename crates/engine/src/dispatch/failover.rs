//! Looking after what waits: what has become due, and what has to go to another carrier.

use super::completed::Done;
use super::worker::Desk;
use crate::context::Context;
use database::Outage;
use domain::Priority;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
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
pub(crate) async fn note_due(shared: &Context) -> database::Result<()> {
    let due = shared.store.due_carriers(shared.clock.now_ms()).await?;
    due.iter()
        .filter_map(|name| shared.carrier(name))
        .for_each(|carrier| carrier.arrived());
    Ok(())
}

impl Desk {
    /// Has what waits go elsewhere, where the carrier has been down for too long.
    pub(crate) fn fail_over(&mut self) {
        if self.busy.failing_over || self.closing || !self.is_to_fail_over() {
            return;
        }
        self.busy.failing_over = true;
        // What is in hand and was not sent goes back first, and is moved the next time.
        self.put_back_unsent();
        let now_ms = self.shared.clock.now_ms();
        let (shared, name) = (Arc::clone(&self.shared), Arc::clone(&self.carrier.name));
        let done = self.done.clone();
        tokio::spawn(async move {
            MOVES.note(move_on(shared, name, now_ms).await);
            let _ = done.send(Done::FailedOver);
        });
    }

    /// Only a node that has connections to lose can tell that a carrier is down, and only if none has any.
    fn is_to_fail_over(&self) -> bool {
        let judges = self.carrier.settings.is_some() && !self.carrier.slots.borrow().is_empty();
        judges
            && !self.carrier.is_up_anywhere()
            && self.shared.clock.steady_ms() - self.down_since_ms >= FAIL_OVER_MS
            && self.shared.live().has_alternative(&self.carrier)
    }
}

/// Moves what waits for a carrier that is down, or not there any more, to one that is up, in order of preference. Gives
/// whether more of it may be moved now.
async fn move_on(shared: Arc<Context>, carrier: Arc<str>, now_ms: i64) -> database::Result<bool> {
    let claim = shared.claim(&carrier, FAIL_OVER_RECIPIENTS, Priority::Bulk, now_ms);
    let claimed = shared.store.claim(claim).await?;
    let recipients = claimed.iter().map(|one| one.batch.recipients.len());
    let is_full = recipients.sum::<usize>() >= FAIL_OVER_RECIPIENTS;
    let mut moved: BTreeMap<Option<Arc<str>>, Vec<Batch>> = BTreeMap::new();
    for Claimed { batch, content } in claimed {
        let others = batch.recipients.first().map(|&first| {
            let live = shared.live();
            live.plan
                .other_carriers(content.gateway, batch.leg, first, &carrier)
        });
        let other = others.into_iter().flatten().find(|name| {
            shared
                .carrier(name)
                .is_some_and(|other| other.is_up_anywhere())
        });
        moved.entry(other).or_default().push(batch);
    }
    // What no other takes would only be turned over.
    let more = is_full && moved.keys().any(Option::is_some);
    for (other, batches) in moved {
        let due_ms = if other.is_some() {
            now_ms
        } else {
            now_ms + NO_OTHER_MS
        };
        // Together, and one after the other: each by itself would take the connections of the database from all others.
        let store = &shared.store;
        let given = store.release(batches.clone(), due_ms, other.clone(), now_ms);
        if let Err(error) = given.await {
            MOVES.failed(&error);
            shared.release(batches, due_ms, other);
        } else if let Some(other) = other.and_then(|name| shared.carrier(&name)) {
            shared.arrived(&other);
        }
    }
    Ok(more)
}

/// Moves what waits for carriers that are not configured any more: nobody else looks for it. What no carrier takes
/// ends when its time is over. The operator is told of each carrier once.
pub(crate) async fn move_strays(
    shared: &Arc<Context>,
    told: &Mutex<BTreeSet<String>>,
) -> database::Result<()> {
    let mut strays = BTreeSet::new();
    for bucket in shared.my_buckets() {
        let carriers = shared.store.batch_carriers(bucket).await?;
        strays.extend(
            carriers
                .into_iter()
                .filter(|name| shared.carrier(name).is_none()),
        );
    }
    if strays.is_empty() {
        return Ok(());
    }
    // A node that was configured otherwise may have it, while nodes are restarted one by one.
    let binds = shared.store.binds().await?;
    let alive = shared.nodes.alive();
    strays.retain(|name| {
        let binds = binds.get(name).into_iter().flatten();
        !binds.into_iter().any(|bind| alive.contains(&bind.node))
    });
    let now_ms = shared.clock.now_ms();
    for name in strays {
        let is_new = told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.clone());
        if is_new {
            tracing::warn!(
                carrier = &*name,
                "batches wait for a carrier that is not configured: they go to the next one of their gateway, or end when \
                 their time is over; configure it again if they are to go there"
            );
        }
        let name: Arc<str> = name.into();
        let carriers = &shared.live().carriers;
        let mut more = carriers
            .iter()
            .any(|other| other.settings.is_some() && other.is_up_anywhere());
        while more {
            // In a task of its own: who is claimed is given back, also where the sweep is aborted now.
            let moving = move_on(Arc::clone(shared), Arc::clone(&name), now_ms);
            let moved = tokio::spawn(moving).await;
            more = moved.map_err(|_| database::Error::Closed).flatten()?;
        }
    }
    Ok(())
}
