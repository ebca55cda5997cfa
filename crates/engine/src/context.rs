//! The values that all stages share, and the steps that several of them take.

pub(crate) mod budget;
pub(crate) mod carrier;
pub(crate) mod clock;
pub(crate) mod clock_step;
pub(crate) mod commit_share;
pub(crate) mod holds;
pub(crate) mod live;
pub(crate) mod metrics;
pub(crate) mod network;
pub(crate) mod nodes;
pub(crate) mod plan;
pub(crate) mod random;
pub(crate) mod system;
pub(crate) mod tls;

use arc_swap::{ArcSwap, Guard};
use carrier::Carrier;
use clock::Clock;
use clock_step::Follower;
use commit_share::CommitShare;
use database::Outage;
use domain::{Bucket, Priority};
use holds::HeldAccounts;
use live::Live;
use network::Network;
use nodes::Nodes;
use random::Random;
use std::sync::Arc;
use std::time::Duration;
use store::{Batch, Callback, CallbackRoom, Claim, Planner, Settled, Store};

/// How long a claim is this node's own.
pub(crate) const CLAIM_MS: i64 = 60_000;
/// The pause after the database failed.
pub(crate) const FAILURE_PAUSE: Duration = Duration::from_millis(250);
/// Batches that are given back, of all carriers.
static RELEASES: Outage = Outage::of("batches cannot be given back");

/// The stage that posts callbacks, as earlier stages know it.
pub(crate) trait CallbackSink: Send + Sync {
    /// How many callbacks can be offered at most.
    fn room(&self) -> CallbackRoom;
    /// Takes callbacks that are claimed in the database already.
    fn offer(&self, callbacks: Vec<Callback>);
    /// A hint that callbacks have become due in the database.
    fn wake(&self);
}

/// The values that all stages share.
pub(crate) struct Context {
    pub(crate) store: Store,
    /// The configuration that holds.
    pub(crate) live: ArcSwap<Live>,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) network: Arc<dyn Network>,
    /// The number of this process among all that share the database; never 0.
    pub(crate) node: i64,
    pub(crate) nodes: Nodes,
    /// Accounts that may not send.
    pub(crate) holds: HeldAccounts,
    pub(crate) follower: tokio::sync::Mutex<Follower>,
    pub(crate) message_ids: random::MessageIds,
    pub(crate) callbacks: Arc<dyn CallbackSink>,
    pub(crate) commit_share: Arc<CommitShare>,
}

/// Reads until it succeeds.
pub(crate) async fn read_at_last<T, R>(fails: &'static str, read: impl Fn() -> R) -> T
where
    R: Future<Output = database::Result<T>>,
{
    let outage = Outage::of(fails);
    loop {
        match outage.note(read().await) {
            Some(found) => return found,
            None => tokio::time::sleep(FAILURE_PAUSE).await,
        }
    }
}

impl Context {
    /// The configuration at this moment: a reload replaces it as a whole.
    pub(crate) fn live(&self) -> Guard<Arc<Live>> {
        self.live.load()
    }

    /// The carrier of that name.
    pub(crate) fn carrier(&self, name: &str) -> Option<Arc<Carrier>> {
        self.live().carrier(name).cloned()
    }

    /// Tells all nodes that batches of a carrier wait in the database.
    pub(crate) fn arrived(&self, carrier: &Carrier) {
        carrier.arrived();
        self.nodes.hint(&carrier.name);
    }

    /// Makes second legs that go out now.
    pub(crate) fn planner(self: &Arc<Self>, now_ms: i64) -> Planner {
        let context = Arc::clone(self);
        Arc::new(move |wanted| context.live().plan.second_leg(wanted, now_ms))
    }

    pub(crate) fn claim(
        &self,
        carrier: &Arc<str>,
        recipients: usize,
        priority: Priority,
        now_ms: i64,
    ) -> Claim {
        Claim {
            carrier: Arc::clone(carrier),
            node: self.node,
            now_ms,
            until_ms: now_ms + CLAIM_MS,
            recipients,
            priority,
            next_id: self.live().plan.numbers(self.store.split_ids()),
        }
    }

    /// Gives claimed batches back, however often the database has to be asked.
    pub(crate) fn release(
        self: &Arc<Self>,
        batches: Vec<Batch>,
        due_at_ms: i64,
        carrier: Option<Arc<str>>,
    ) {
        let context = Arc::clone(self);
        tokio::spawn(async move {
            let release = || {
                let (batches, carrier) = (batches.clone(), carrier.clone());
                let now_ms = context.clock.now_ms();
                context.store.release(batches, due_at_ms, carrier, now_ms)
            };
            while RELEASES.note(release().await).is_none() {
                tokio::time::sleep(FAILURE_PAUSE).await;
            }
            let names = batches
                .iter()
                .map(|batch| carrier.as_ref().unwrap_or(&batch.carrier));
            names
                .filter_map(|name| context.carrier(name))
                .for_each(|carrier| context.arrived(&carrier));
        });
    }

    /// Hands on what a change of the store has made: callbacks, and work for carriers.
    pub(crate) fn settled(self: &Arc<Self>, settled: Settled) {
        metrics::settled(&settled.outcomes);
        let unclear = settled.unclear.iter();
        unclear
            .filter_map(|name| self.carrier(name))
            .for_each(|carrier| carrier.note_unclear());
        let now_ms = self.clock.now_ms();
        let due = settled.work.iter().filter(|(_, due_ms)| *due_ms <= now_ms);
        due.filter_map(|(name, _)| self.carrier(name))
            .for_each(|carrier| self.arrived(&carrier));
        self.callbacks.offer(settled.callbacks);
        if settled.more_callbacks {
            self.callbacks.wake();
        }
    }

    /// The buckets that are this node's to sweep.
    pub(crate) fn my_buckets(&self) -> impl Iterator<Item = Bucket> {
        let buckets = self.store.buckets();
        buckets.filter(|&bucket| self.nodes.is_mine(bucket))
    }

    /// Unix milliseconds, by which windows may be armed and forgotten now. Nodes go by the clock of their server; where
    /// that is set, none of them moves what all have armed.
    pub(crate) async fn followed_ms(&self) -> database::Result<i64> {
        let mut follower = self.follower.lock().await;
        let (now_ms, steady_ms) = self.clock.both_ms();
        let set_by_ms = follower.watch.set_by_ms(now_ms, steady_ms);
        if set_by_ms != 0 {
            tracing::warn!(set_by_ms, "the clock was set");
            follower.owed_ms += set_by_ms;
        }
        if follower.owed_ms != 0 && !self.store.is_shared() {
            self.store.follow_clock(now_ms, follower.owed_ms).await?;
        }
        follower.owed_ms = 0;
        Ok(now_ms)
    }
}
