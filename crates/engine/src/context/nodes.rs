//! The nodes that share the database, and the lease of this one.

use super::clock::Clock;
use domain::{Bucket, NodeId};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::time::Duration;
use store::Store;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Time without a heartbeat after which this node stops acting on its claims. It is shorter than
/// `DEAD_AFTER`, so this node stops before another takes over.
const LEASE: Duration = Duration::from_secs(4);
/// The nodes that this one knows, and the hints for them.
pub(crate) struct Nodes {
    pub(crate) node: NodeId,
    pub(crate) name: String,
    pub(crate) is_shared: bool,
    known: Mutex<Known>,
    /// Carriers with new work, about which the other nodes must be notified.
    pub(crate) hinted: Mutex<BTreeSet<String>>,
    pub(crate) has_hints: Notify,
    /// Notified when batches of removed nodes must be looked for.
    orphan_search: Notify,
}

pub(crate) struct Known {
    /// The time of the last heartbeat.
    pub(crate) last_beat: Instant,
    /// All living nodes, in order.
    pub(crate) alive: Vec<NodeId>,
}

impl Nodes {
    /// Registers this node in the database before it claims anything.
    pub(crate) async fn join(store: &Store, clock: &Clock, node: NodeId) -> database::Result<Self> {
        sync_clock(store, clock).await?;
        let name = format!("{}:{}", host(), std::process::id());
        let last_beat = Instant::now();
        store.nodes().beat(node, &name).await?;
        let all = store.nodes().all().await?;
        let alive = all.iter().map(|seen| seen.node).collect();
        Ok(Self {
            node,
            name,
            is_shared: store.is_shared(),
            known: Mutex::new(Known { last_beat, alive }),
            hinted: Mutex::default(),
            has_hints: Notify::new(),
            orphan_search: Notify::new(),
        })
    }

    /// Returns `true` if other nodes may share the database.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns `true` if the claims of this node are certainly valid.
    pub(crate) fn holds(&self) -> bool {
        !self.is_shared || self.known().last_beat.elapsed() < LEASE
    }

    /// Returns `true` if this node sweeps a bucket. Two nodes may do so for a moment, which is
    /// harmless.
    pub(crate) fn is_mine(&self, bucket: Bucket) -> bool {
        let known = self.known();
        let count = i64::try_from(known.alive.len()).unwrap_or(1).max(1);
        let index = usize::try_from(bucket.0.rem_euclid(count)).unwrap_or(0);
        known.alive.get(index).is_none_or(|&node| node == self.node)
    }

    /// Returns the living nodes, as far as this one knows.
    pub(crate) fn alive(&self) -> Vec<NodeId> {
        self.known().alive.clone()
    }

    /// Queues a hint for the other nodes that a carrier has work.
    pub(crate) fn hint(&self, carrier: &str) {
        if self.is_shared {
            let mut hinted = self.hinted.lock();
            hinted.insert(carrier.to_owned());
            self.has_hints.notify_one();
        }
    }

    /// Requests a search for claims of removed nodes. It is repeated if one is running.
    pub(crate) fn look_for_orphans(&self) {
        self.orphan_search.notify_one();
    }

    /// Waits for a request to search.
    pub(crate) async fn orphan_search_requested(&self) {
        self.orphan_search.notified().await;
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock()
    }
}

/// Returns the host name of this machine, for the operator.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// Adjusts the clock to the clock of the database server, which all nodes follow.
pub(crate) async fn sync_clock(store: &Store, clock: &Clock) -> database::Result<()> {
    let asked_ms = clock.steady_ms();
    if let Some(theirs_ms) = store.server_ms().await? {
        clock.adjust(theirs_ms, asked_ms, clock.steady_ms());
    }
    Ok(())
}
