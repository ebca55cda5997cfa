//! This process among the nodes that share a database: who else is alive, who does what, and who holds which
//! connection.
//!
//! Each node raises its beat every second. One whose beat stands still is dead, by the clock of whoever
//! watches: it is buried, what it had claimed is in doubt, and its connections are taken. A node that could not
//! raise its own beat for a while stops sending before that, and learns from the database whether it was
//! buried. Where there is one process (SQLite), it is all of this at once.

use super::deadline::within;
use super::membership::Watch;
use crate::admit::rate::Rates;
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::nodes::agree;
use database::Outage;
use domain::{Share, share};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::Bind;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// How often a node raises its beat and looks at the others.
const BEAT_INTERVAL: Duration = Duration::from_secs(1);
/// How often orphans are looked for when nobody died.
const ORPHANS_INTERVAL: u32 = 15;
/// Runs what this process does as a node, until it is aborted.
pub(crate) fn start(context: &Arc<Context>, rates: &Arc<Rates>) -> [JoinHandle<()>; 4] {
    [
        tokio::spawn(run(Arc::clone(context), Arc::clone(rates))),
        tokio::spawn(super::takeover::run(Arc::clone(context))),
        tokio::spawn(super::hints::send(Arc::clone(context))),
        tokio::spawn(super::hints::listen(Arc::clone(context))),
    ]
}

/// Beats, watches, and takes over, until the engine ends.
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
    // After a standstill one beat is enough.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut count = 0_u32;
    let outage = Outage::of("the other nodes cannot be seen");
    loop {
        beats.tick().await;
        match outage.note(beat(&context, &mut watch, count).await) {
            Some(alive) => rates.nodes.store(alive, Ordering::Relaxed),
            // While the database was away nobody could beat.
            None => watch.0.clear(),
        }
        count = count.wrapping_add(1);
    }
}

/// Beats and looks once; gives how many nodes are alive.
async fn beat(context: &Arc<Context>, watch: &mut Watch, count: u32) -> database::Result<usize> {
    let (store, nodes) = (&context.store, &context.nodes);
    let began = Instant::now();
    let known = within(store.beat(nodes.node, &nodes.name)).await?;
    let stood_still = nodes.known().beaten.elapsed() > super::membership::DEAD_AFTER;
    if !known {
        tracing::warn!("this node was taken for dead: what it had in hand is in doubt");
        let live = context.live();
        live.carriers
            .iter()
            .for_each(|carrier| carrier.lose_lease());
    }
    // Only now: nothing that it had may be taken for its own again.
    nodes.known().beaten = began;
    if stood_still {
        watch.0.clear();
    }
    let mut all = within(store.nodes()).await?;
    let dead = watch.dead(&all, Instant::now());
    for node in dead.into_iter().filter(|seen| seen.node != nodes.node) {
        if within(store.remove_dead(node)).await? {
            tracing::warn!(node = node.node, "a node is dead: taking over");
        }
        all.retain(|seen| seen.node != node.node);
    }
    let alive: Vec<i64> = all.iter().map(|seen| seen.node).collect();
    let changed = nodes.known().alive != alive;
    nodes.known().alive.clone_from(&alive);
    // At once, so that it is not lost for what fails below; and not here, as it may take longer than a beat can wait.
    if changed || count.is_multiple_of(ORPHANS_INTERVAL) {
        nodes.look_for_orphans();
    }
    share_binds(context, &alive).await?;
    // Last: what the beat has told must not be lost for it.
    within(agree(store, &context.clock)).await?;
    Ok(alive.len())
}

/// Takes and gives back connections, so that the nodes have as many each.
async fn share_binds(context: &Arc<Context>, alive: &[i64]) -> database::Result<()> {
    let (node, live) = (context.nodes.node, context.live.load_full());
    let mut binds = within(context.store.binds()).await?;
    let mut taken = false;
    // One that is about to take another's place is given connections when that has given back its own.
    let running = live.carriers.iter().filter(|carrier| carrier.is_running());
    for carrier in running.clone() {
        let Some(settings) = &carrier.settings else {
            continue;
        };
        let holders = holders(&binds, carrier, settings.binds);
        if let Share::Take(most) = share(node, alive, &holders, settings.binds) {
            let take = context
                .store
                .take_binds(&carrier.name, node, settings.binds, most);
            within(take).await?;
            taken = true;
        }
    }
    if taken {
        binds = within(context.store.binds()).await?;
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

fn holders(binds: &BTreeMap<String, Vec<Bind>>, carrier: &Carrier, slots: usize) -> Vec<i64> {
    let all = binds.get(&*carrier.name).map_or(&[][..], Vec::as_slice);
    let slots = i64::try_from(slots).unwrap_or(i64::MAX);
    all.iter()
        .filter(|bind| bind.slot <= slots)
        .map(|bind| bind.node)
        .collect()
}

/// Tells the carrier which connections this node has now, and the database which of them are bound.
async fn hold(
    context: &Arc<Context>,
    carrier: &Carrier,
    binds: &[Bind],
    alive: &[i64],
    back: usize,
) -> database::Result<()> {
    let node = context.nodes.node;
    let up_elsewhere = binds
        .iter()
        .any(|bind| bind.bound && bind.node != node && alive.contains(&bind.node));
    let mine: Vec<&Bind> = binds.iter().filter(|bind| bind.node == node).collect();
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
            within(context.store.note_bind(bind)).await?;
        }
    }
    Ok(())
}
