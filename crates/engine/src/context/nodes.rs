//! The nodes that share the database, as this one knows them, and whether this one may act.

use super::clock::Clock;
use domain::Bucket;
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::time::Duration;
use store::Store;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a node acts on what it has claimed without having raised its beat: less than `DEAD_AFTER`, so that
/// it has stopped before another takes over.
const LEASE: Duration = Duration::from_secs(4);
/// The nodes as this one knows them.
pub(crate) struct Nodes {
    pub(crate) node: i64,
    pub(crate) name: String,
    pub(crate) is_shared: bool,
    known: Mutex<Known>,
    /// Carriers for which the others are to be rung.
    pub(crate) hinted: Mutex<BTreeSet<String>>,
    pub(crate) has_hints: Notify,
    /// The batches of nodes that are gone are to be looked for.
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
            hinted: Mutex::default(),
            has_hints: Notify::new(),
            orphans: Notify::new(),
        })
    }

    /// Returns `true` if there may be others.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns `true` if what is claimed is certainly still this node's own.
    pub(crate) fn holds(&self) -> bool {
        !self.is_shared || self.known().beaten.elapsed() < LEASE
    }

    /// Returns `true` if this node does what is done once for a bucket. Two may think so for a moment: it does no harm.
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
    pub(crate) fn hint(&self, carrier: &str) {
        if self.is_shared {
            let mut hinted = self.hinted.lock();
            hinted.insert(carrier.to_owned());
            self.has_hints.notify_one();
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
        self.known.lock()
    }
}

/// The name of this machine, for the operator.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Makes the clock follow that of the server, by which all nodes go.
pub(crate) async fn agree(store: &Store, clock: &Clock) -> database::Result<()> {
    let asked_ms = clock.steady_ms();
    if let Some(theirs_ms) = store.server_ms().await? {
        clock.lead(theirs_ms, asked_ms, clock.steady_ms());
    }
    Ok(())
}
