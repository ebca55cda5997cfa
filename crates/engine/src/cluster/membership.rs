//! The nodes that this one knows, and how long ago each was heard of.

use super::run::agree;
use crate::context::clock::Clock;
use domain::Bucket;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{NodeBeat, Store};
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a node acts on what it has claimed without having raised its beat: less than `DEAD_AFTER`, so that
/// it has stopped before another takes over.
const LEASE: Duration = Duration::from_secs(4);
/// A beat that stood still so long is that of a dead node.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(5);

/// What this node knows of all nodes.
pub(crate) struct Nodes {
    pub(crate) node: i64,
    pub(crate) name: String,
    pub(crate) is_shared: bool,
    known: Mutex<Known>,
    /// Carriers for which the others are to be rung.
    pub(crate) rings: Mutex<BTreeSet<String>>,
    pub(crate) ring: Notify,
    /// What nodes that are gone had in hand is to be looked for.
    orphans: Notify,
}

pub(crate) struct Known {
    /// When the beat was last raised.
    pub(crate) beaten: Instant,
    /// All that are alive, in order.
    pub(crate) alive: Vec<i64>,
}

impl Nodes {
    /// Makes this process known before it claims anything.
    pub(crate) async fn join(store: &Store, clock: &Clock, node: i64) -> database::Result<Self> {
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
    pub(crate) fn look_for_orphans(&self) {
        self.orphans.notify_one();
    }

    /// Waits until that is asked for.
    pub(crate) async fn orphans_wanted(&self) {
        self.orphans.notified().await;
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of this machine, for the operator.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// The beats of the others, with when each was first seen.
#[derive(Default)]
pub(crate) struct Watch(pub(crate) HashMap<i64, (i64, Instant)>);

impl Watch {
    /// Those whose beat stood still for too long.
    pub(crate) fn dead(&mut self, all: &[NodeBeat], now: Instant) -> Vec<NodeBeat> {
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
