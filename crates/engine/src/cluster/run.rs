//! The membership loop of a node: heartbeat, detection of dead nodes, and shares of bind slots.
//!
//! Each node raises its heartbeat every second. The others measure by their own clocks for how long
//! a heartbeat stays the same. A node whose heartbeat stops is removed: its claims are in doubt and
//! its bind slots are free. A node that cannot raise its heartbeat stops sending before that, and
//! finds in the database whether it was removed. On SQLite there is one process, and it holds
//! everything.

use super::deadline::within;
use super::membership::Watch;
use crate::admit::rate::Rates;
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::nodes::sync_clock;
use database::Outage;
use domain::{NodeId, Share, share};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::Bind;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Period of the heartbeat.
const BEAT_INTERVAL: Duration = Duration::from_secs(1);
/// Number of heartbeats between two searches for orphaned claims.
const ORPHANS_INTERVAL: u32 = 15;
/// Starts the tasks of a node. They run until they are aborted.
pub(crate) fn start(context: &Arc<Context>, rates: &Arc<Rates>) -> [JoinHandle<()>; 4] {
    [
        tokio::spawn(run(Arc::clone(context), Arc::clone(rates))),
        tokio::spawn(super::takeover::run(Arc::clone(context))),
        tokio::spawn(super::hints::send(Arc::clone(context))),
        tokio::spawn(super::hints::listen(Arc::clone(context))),
    ]
}

/// Raises the heartbeat, watches the others and shares bind slots, until the engine ends.
async fn run(context: Arc<Context>, rates: Arc<Rates>) {
    if !context.nodes.is_shared {
        context
            .live()
            .carriers
            .iter()
            .for_each(|one| one.hold_all());
        return;
    }
    let mut watch = Watch::default();
    let mut beats = interval(BEAT_INTERVAL);
    // After a pause of the process one heartbeat is enough.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut count = 0_u32;
    let outage = Outage::of("the other nodes cannot be seen");
    loop {
        beats.tick().await;
        match outage.note(beat(&context, &mut watch, count).await) {
            Some(alive) => rates.nodes.store(alive, Ordering::Relaxed),
            // No node could update its heartbeat while the database was down.
            None => watch.0.clear(),
        }
        count = count.wrapping_add(1);
    }
}

/// Raises the heartbeat once and reads the others. Returns the number of living nodes.
async fn beat(context: &Arc<Context>, watch: &mut Watch, count: u32) -> database::Result<usize> {
    let (store, nodes) = (&context.store, &context.nodes);
    let began = Instant::now();
    let known = within(store.nodes().beat(nodes.node, &nodes.name)).await?;
    let was_stalled = nodes.known().last_beat.elapsed() > super::membership::DEAD_AFTER;
    if !known {
        tracing::warn!("node: removed as dead by another node, its claims are in doubt");
        let live = context.live();
        live.carriers
            .iter()
            .for_each(|carrier| carrier.lose_lease());
    }
    // The lease begins only after the claims were dropped, so that none of them counts as valid
    // again.
    nodes.known().last_beat = began;
    if was_stalled {
        watch.0.clear();
    }
    let mut all = within(store.nodes().all()).await?;
    let dead = watch.dead(&all, Instant::now());
    for node in dead.into_iter().filter(|seen| seen.node != nodes.node) {
        if within(store.nodes().remove_dead(node)).await? {
            tracing::warn!(node = node.node.0, "node: dead, its work is taken over");
        }
        all.retain(|seen| seen.node != node.node);
    }
    let alive: Vec<NodeId> = all.iter().map(|seen| seen.node).collect();
    let changed = nodes.known().alive != alive;
    nodes.known().alive.clone_from(&alive);
    // The search is requested before the calls that may fail below. It runs in a task of its own,
    // because it may take longer than a heartbeat can wait.
    if changed || count.is_multiple_of(ORPHANS_INTERVAL) {
        nodes.look_for_orphans();
    }
    share_binds(context, &alive).await?;
    // The clock is last, so that its failure does not hide the results above.
    within(sync_clock(store, &context.clock)).await?;
    Ok(alive.len())
}

/// Takes or releases bind slots, so that all nodes hold equal shares.
async fn share_binds(context: &Arc<Context>, alive: &[NodeId]) -> database::Result<()> {
    let (node, live) = (context.nodes.node, context.live.load_full());
    let mut binds = within(context.store.nodes().binds()).await?;
    let mut taken = false;
    // A new worker gets slots only after its predecessor has released its own.
    let running = live.carriers.iter().filter(|carrier| carrier.is_running());
    for carrier in running.clone() {
        let Some(settings) = &carrier.settings else {
            continue;
        };
        let holders = holders(&binds, carrier, settings.binds);
        if let Share::Take(most) = share(node, alive, &holders, settings.binds) {
            let take = context
                .store
                .nodes()
                .take_binds(&carrier.name, node, settings.binds, most);
            within(take).await?;
            taken = true;
        }
    }
    if taken {
        binds = within(context.store.nodes().binds()).await?;
    }
    for carrier in running {
        if let Some(settings) = &carrier.settings {
            let all = binds.get(&*carrier.name).map_or(&[][..], Vec::as_slice);
            let holders = holders(&binds, carrier, settings.binds);
            let back = match share(node, alive, &holders, settings.binds) {
                Share::GiveBack(count) => count,
                Share::Keep | Share::Take(_) => 0,
            };
            hold(context, carrier, all, alive, back).await?;
        }
    }
    Ok(())
}

fn holders(binds: &BTreeMap<String, Vec<Bind>>, carrier: &Carrier, slots: usize) -> Vec<NodeId> {
    let all = binds.get(&*carrier.name).map_or(&[][..], Vec::as_slice);
    let slots = i64::try_from(slots).unwrap_or(i64::MAX);
    all.iter()
        .filter(|bind| bind.slot <= slots)
        .filter_map(|bind| bind.node)
        .collect()
}

/// Assigns the slots of this node to the carrier, and records in the database which of them are
/// bound.
async fn hold(
    context: &Arc<Context>,
    carrier: &Carrier,
    binds: &[Bind],
    alive: &[NodeId],
    back: usize,
) -> database::Result<()> {
    let node = context.nodes.node;
    let up_elsewhere = binds
        .iter()
        .filter(|bind| bind.bound)
        .filter_map(|bind| bind.node)
        .any(|holder| holder != node && alive.contains(&holder));
    let mine: Vec<&Bind> = binds
        .iter()
        .filter(|bind| bind.node == Some(node))
        .collect();
    let kept = mine.len().saturating_sub(back);
    let slots = mine.iter().take(kept).map(|bind| bind.slot).collect();
    carrier.hold(slots, up_elsewhere);
    let bound = carrier.bound();
    for bind in mine {
        let is_bound = bound.contains(&bind.slot);
        if is_bound != bind.bound {
            let bind = Bind {
                bound: is_bound,
                ..bind.clone()
            };
            within(context.store.nodes().note_bind(bind)).await?;
        }
    }
    Ok(())
}
