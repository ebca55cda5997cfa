//! This process among the nodes that share a database: who else is alive, who does what, and who holds which
//! connection.
//!
//! Each node raises its beat every second. One whose beat stands still is dead, by the clock of whoever
//! watches: it is buried, what it had claimed is in doubt, and its connections are taken. A node that could not
//! raise its own beat for a while stops sending before that, and learns from the database whether it was
//! buried. Where there is one process (SQLite), it is all of this at once.

use crate::carrier::Carrier;
use crate::rate::Rates;
use crate::{Clock, Shared, recover};
use domain::{Bucket, Share, share};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{Bind, NodeBeat, Outage, Store};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

/// How often a node raises its beat and looks at the others.
const BEAT_EVERY: Duration = Duration::from_secs(1);
/// How long the database may take for it.
const BEAT_PATIENCE: Duration = Duration::from_secs(2);
/// How long a node acts on what it has claimed without having raised its beat: less than `DEAD_AFTER`, so that
/// it has stopped before another takes over.
const LEASE: Duration = Duration::from_secs(4);
/// A beat that stood still so long is that of a dead node.
const DEAD_AFTER: Duration = Duration::from_secs(5);
/// How often orphans are looked for when nobody died.
const ORPHANS_EVERY: u32 = 15;
/// The pause between two rings, however many there are.
const RING_PAUSE: Duration = Duration::from_millis(5);
/// How long nothing is heard until it is listened anew: the connection may have died without a word.
const SILENCE: Duration = Duration::from_secs(30);
/// The pause before listening again.
const LISTEN_PAUSE: Duration = Duration::from_secs(1);

/// What this node knows of all nodes.
pub(crate) struct Nodes {
    pub(crate) node: i64,
    name: String,
    is_shared: bool,
    known: Mutex<Known>,
    /// Carriers for which the others are to be rung.
    rings: Mutex<BTreeSet<String>>,
    ring: Notify,
    /// What nodes that are gone had in hand is to be looked for.
    orphans: Notify,
}

struct Known {
    /// When the beat was last raised.
    beaten: Instant,
    /// All that are alive, in order.
    alive: Vec<i64>,
}

impl Nodes {
    /// Makes this process known before it claims anything.
    pub(crate) async fn join(store: &Store, clock: &Clock, node: i64) -> store::Result<Self> {
        agree(store, clock).await?;
        let name = format!("{}:{}", host(), std::process::id());
        let beaten = Instant::now();
        store.beat(node, &name).await?;
        let all = store.nodes().await?;
        let alive = all.iter().map(|seen| seen.node).collect();
        Ok(Self {
            node,
            name,
            is_shared: store.is_shared(),
            known: Mutex::new(Known { beaten, alive }),
            rings: Mutex::default(),
            ring: Notify::new(),
            orphans: Notify::new(),
        })
    }

    /// Whether there may be others.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether what is claimed is certainly still this node's own.
    pub(crate) fn holds(&self) -> bool {
        !self.is_shared || self.known().beaten.elapsed() < LEASE
    }

    /// Whether this node does what is done once for a bucket. Two may think so for a moment: it does no harm.
    pub(crate) fn is_mine(&self, bucket: Bucket) -> bool {
        let known = self.known();
        let count = i64::try_from(known.alive.len()).unwrap_or(1).max(1);
        let turn = usize::try_from(bucket.0.rem_euclid(count)).unwrap_or(0);
        known.alive.get(turn).is_none_or(|&node| node == self.node)
    }

    /// All nodes that are alive, as far as this one knows.
    pub(crate) fn alive(&self) -> Vec<i64> {
        self.known().alive.clone()
    }

    /// Tells the other nodes that a carrier has work, as soon as that can be said.
    pub(crate) fn ring(&self, carrier: &str) {
        if self.is_shared {
            let mut rings = self.rings.lock().unwrap_or_else(PoisonError::into_inner);
            rings.insert(carrier.to_owned());
            self.ring.notify_one();
        }
    }

    /// Asks for a look at what nodes that are gone had in hand: once more, where one is under way.
    fn look_for_orphans(&self) {
        self.orphans.notify_one();
    }

    /// Waits until that is asked for.
    pub(crate) async fn orphans_wanted(&self) {
        self.orphans.notified().await;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of this machine, for the operator.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Runs what this process does as a node, until it is aborted.
pub(crate) fn start(shared: &Arc<Shared>, rates: &Arc<Rates>) -> [JoinHandle<()>; 4] {
    [
        tokio::spawn(run(Arc::clone(shared), Arc::clone(rates))),
        tokio::spawn(recover::run(Arc::clone(shared))),
        tokio::spawn(ring(Arc::clone(shared))),
        tokio::spawn(listen(Arc::clone(shared))),
    ]
}

/// Beats, watches, and takes over, until the engine ends.
async fn run(shared: Arc<Shared>, rates: Arc<Rates>) {
    if !shared.nodes.is_shared {
        shared.live().carriers.iter().for_each(|one| one.hold_all());
        return;
    }
    let mut watch = Watch::default();
    let mut beats = interval(BEAT_EVERY);
    // After a standstill one beat is enough.
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut count = 0_u32;
    let outage = Outage::of("the other nodes cannot be seen");
    loop {
        beats.tick().await;
        match outage.note(turn(&shared, &mut watch, count).await) {
            Some(alive) => rates.nodes.store(alive, Ordering::Relaxed),
            // While the database was away nobody could beat.
            None => watch.0.clear(),
        }
        count = count.wrapping_add(1);
    }
}

/// The beats of the others, with when each was first seen.
#[derive(Default)]
struct Watch(HashMap<i64, (i64, Instant)>);

impl Watch {
    /// Those whose beat stood still for too long.
    fn dead(&mut self, all: &[NodeBeat], now: Instant) -> Vec<NodeBeat> {
        self.0
            .retain(|node, _| all.iter().any(|seen| seen.node == *node));
        let mut dead = Vec::new();
        for seen in all {
            let (beat, since) = self.0.entry(seen.node).or_insert((seen.beat, now));
            if *beat != seen.beat {
                (*beat, *since) = (seen.beat, now);
            } else if now.duration_since(*since) >= DEAD_AFTER {
                dead.push(*seen);
            }
        }
        dead
    }
}

/// Beats and looks once; gives how many nodes are alive.
async fn turn(shared: &Arc<Shared>, watch: &mut Watch, count: u32) -> store::Result<usize> {
    let (store, nodes) = (&shared.store, &shared.nodes);
    let began = Instant::now();
    let known = within(store.beat(nodes.node, &nodes.name)).await?;
    let stood_still = nodes.known().beaten.elapsed() > DEAD_AFTER;
    if !known {
        tracing::warn!("this node was taken for dead: what it had in hand is in doubt");
        let live = shared.live();
        live.carriers.iter().for_each(|carrier| carrier.lapse());
    }
    // Only now: nothing that it had may be taken for its own again.
    nodes.known().beaten = began;
    if stood_still {
        watch.0.clear();
    }
    let mut all = within(store.nodes()).await?;
    let dead = watch.dead(&all, Instant::now());
    for node in dead.into_iter().filter(|seen| seen.node != nodes.node) {
        if within(store.bury(node)).await? {
            tracing::warn!(node = node.node, "a node is dead: taking over");
        }
        all.retain(|seen| seen.node != node.node);
    }
    let alive: Vec<i64> = all.iter().map(|seen| seen.node).collect();
    let changed = nodes.known().alive != alive;
    nodes.known().alive.clone_from(&alive);
    // At once, so that it is not lost for what fails below; and not here, as it may take longer than a beat can wait.
    if changed || count.is_multiple_of(ORPHANS_EVERY) {
        nodes.look_for_orphans();
    }
    share_binds(shared, &alive).await?;
    // Last: what the beat has told must not be lost for it.
    within(agree(store, &shared.clock)).await?;
    Ok(alive.len())
}

/// Has the clock follow that of the server, by which all nodes go.
async fn agree(store: &Store, clock: &Clock) -> store::Result<()> {
    let asked_ms = clock.steady_ms();
    if let Some(theirs_ms) = store.server_ms().await? {
        clock.lead(theirs_ms, asked_ms, clock.steady_ms());
    }
    Ok(())
}

async fn within<T>(answer: impl Future<Output = store::Result<T>>) -> store::Result<T> {
    timeout(BEAT_PATIENCE, answer)
        .await
        .unwrap_or(Err(store::Error::TimedOut))
}

/// Takes and gives back connections, so that the nodes have as many each.
async fn share_binds(shared: &Arc<Shared>, alive: &[i64]) -> store::Result<()> {
    let (node, live) = (shared.nodes.node, shared.live.load_full());
    let mut binds = within(shared.store.binds()).await?;
    let mut taken = false;
    // One that is about to take another's place is given connections when that has given back its own.
    let running = live.carriers.iter().filter(|carrier| carrier.is_running());
    for carrier in running.clone() {
        let Some(settings) = &carrier.settings else {
            continue;
        };
        let holders = holders(&binds, carrier, settings.binds);
        if let Share::Take(most) = share(node, alive, &holders, settings.binds) {
            let take = shared
                .store
                .take_binds(&carrier.name, node, settings.binds, most);
            within(take).await?;
            taken = true;
        }
    }
    if taken {
        binds = within(shared.store.binds()).await?;
    }
    for carrier in running {
        if let Some(settings) = &carrier.settings {
            let all = binds.get(&*carrier.name).map_or(&[][..], Vec::as_slice);
            let holders = holders(&binds, carrier, settings.binds);
            let back = match share(node, alive, &holders, settings.binds) {
                Share::GiveBack(count) => count,
                Share::Keep | Share::Take(_) => 0,
            };
            hold(shared, carrier, all, alive, back).await?;
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
    shared: &Arc<Shared>,
    carrier: &Carrier,
    binds: &[Bind],
    alive: &[i64],
    back: usize,
) -> store::Result<()> {
    let node = shared.nodes.node;
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
            within(shared.store.note_bind(bind)).await?;
        }
    }
    Ok(())
}

/// Rings the other nodes. Runs until the engine ends.
async fn ring(shared: Arc<Shared>) {
    let nodes = &shared.nodes;
    loop {
        nodes.ring.notified().await;
        let rings =
            std::mem::take(&mut *nodes.rings.lock().unwrap_or_else(PoisonError::into_inner));
        let rings: Vec<String> = rings.into_iter().collect();
        if let Err(error) = within(shared.store.ring(&rings)).await {
            tracing::debug!(%error, "the other nodes were not rung; they look by themselves");
        }
        sleep(RING_PAUSE).await;
    }
}

/// Wakes carriers when another node rings for them. Runs until the engine ends.
async fn listen(shared: Arc<Shared>) {
    let outage = Outage::of("other nodes are not heard, and looked at instead");
    loop {
        match outage.note(shared.store.listen().await) {
            Some(None) => return,
            Some(Some(mut hints)) => {
                while let Ok(Ok(name)) = timeout(SILENCE, hints.next()).await {
                    if let Some(carrier) = shared.carrier(&name) {
                        carrier.arrived();
                    }
                }
            }
            None => {}
        }
        sleep(LISTEN_PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_dead_when_its_beat_stood_still_while_it_was_watched() {
        let (mut watch, start) = (Watch::default(), Instant::now());
        let seen = |beat| [NodeBeat { node: 1, beat }];
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(watch.dead(&seen(1), at(0)), []);
        assert_eq!(watch.dead(&seen(1), at(4)), []);
        assert_eq!(watch.dead(&seen(2), at(5)), []);
        assert_eq!(watch.dead(&seen(2), at(9)), []);
        assert_eq!(watch.dead(&seen(2), at(10)), seen(2));
        assert_eq!(watch.dead(&[], at(11)), []);
        assert_eq!(watch.dead(&seen(2), at(12)), [], "it came back");
    }
}
