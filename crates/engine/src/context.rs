//! State that all stages share, and operations that several of them use.

pub(crate) mod budget;
pub(crate) mod carrier;
pub(crate) mod clock;
pub(crate) mod clock_step;
pub(crate) mod commit_share;
pub(crate) mod controls;
pub(crate) mod holds;
pub(crate) mod http_client;
pub(crate) mod live;
pub(crate) mod metrics;
pub(crate) mod network;
pub(crate) mod nodes;
pub(crate) mod outcome;
pub(crate) mod payments;
pub(crate) mod plan;
pub(crate) mod random;
pub(crate) mod receipt_hints;
pub(crate) mod request_log;
pub(crate) mod stops;
pub(crate) mod system;
pub(crate) mod tls;

use arc_swap::{ArcSwap, Guard};
use carrier::Carrier;
use clock::Clock;
use clock_step::ClockFollower;
use commit_share::CommitShare;
use controls::Controls;
use database::Outage;
use domain::{BatchId, Bucket, NodeId, Priority};
use holds::HeldAccounts;
use live::Live;
use network::Network;
use nodes::Nodes;
use random::Random;
use receipt_hints::ReceiptHints;
use request_log::RequestLog;
use std::sync::Arc;
use std::time::Duration;
use stops::{STOP_HINT, StoppedMessages};
use store::{Batch, Callback, CallbackRoom, Claim, Planner, PolledCarrier, Settled, Store};

/// Duration of a claim.
pub(crate) const CLAIM_MS: i64 = 60_000;
/// Delay before a failed database operation is retried.
pub(crate) const FAILURE_PAUSE: Duration = Duration::from_millis(250);
/// Outage of the release of claimed batches, over all carriers.
static RELEASES: Outage = Outage::of("batches cannot be released");

/// The notify stage, in the form that earlier stages use.
pub(crate) trait CallbackSink: Send + Sync {
    /// Returns the number of callbacks that the stage can take now.
    fn capacity(&self) -> CallbackRoom;
    /// Takes callbacks that are already claimed in the database.
    fn offer(&self, callbacks: Vec<Callback>);
    /// Notifies the stage that callbacks have become due in the database.
    fn wake(&self);
}

/// State that all stages share.
pub(crate) struct Context {
    pub(crate) store: Store,
    /// The current configuration.
    pub(crate) live: ArcSwap<Live>,
    pub(crate) clock: Clock,
    pub(crate) random: Random,
    pub(crate) network: Arc<dyn Network>,
    /// The number of this node.
    pub(crate) node: NodeId,
    pub(crate) nodes: Nodes,
    /// Accounts that may not send.
    pub(crate) holds: HeldAccounts,
    /// The control of carriers by operators.
    pub(crate) controls: Controls,
    /// Messages whose recipients must not be submitted.
    pub(crate) stops: StoppedMessages,
    pub(crate) follower: tokio::sync::Mutex<ClockFollower>,
    pub(crate) message_ids: random::MessageIds,
    /// The key from which the codes of one-time passwords are derived.
    pub(crate) otp_key: Vec<u8>,
    pub(crate) callbacks: Arc<dyn CallbackSink>,
    /// Notifies the connections of SMPP users that receipts wait.
    pub(crate) receipts: ReceiptHints,
    pub(crate) commit_share: Arc<CommitShare>,
    pub(crate) requests: RequestLog,
    /// Notifies the router that pages of inbound messages were kept.
    pub(crate) inbound: tokio::sync::Notify,
    /// Notifies the sender of answers that one waits.
    pub(crate) answers: tokio::sync::Notify,
}

/// Retries a read until it succeeds.
pub(crate) async fn retry_read<T, R>(fails: &'static str, read: impl Fn() -> R) -> T
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
    /// Returns the current configuration. A reload replaces it as a whole.
    pub(crate) fn live(&self) -> Guard<Arc<Live>> {
        self.live.load()
    }

    /// Returns a carrier by name.
    pub(crate) fn carrier(&self, name: &str) -> Option<Arc<Carrier>> {
        self.live().carrier(name).cloned()
    }

    /// Returns `true` if any node may submit over this carrier now.
    pub(crate) fn submits_over(&self, carrier: &Carrier) -> bool {
        carrier.is_up_anywhere() && self.controls.of(&carrier.name).submits()
    }

    /// Notifies the workers of a carrier on all nodes that batches wait in the database.
    pub(crate) fn arrived(&self, carrier: &Carrier) {
        carrier.arrived();
        self.nodes.hint(&carrier.name);
    }

    /// Notifies this node and the others that a message was stopped, or is no longer.
    pub(crate) fn stops_changed(&self) {
        self.stops.note_change();
        self.nodes.hint(STOP_HINT);
    }

    /// Returns the carriers that are asked for the states of their messages.
    pub(crate) fn polled(&self) -> Vec<PolledCarrier> {
        let live = self.live();
        let polled = live.carriers.iter().filter_map(|carrier| {
            let poll = carrier.settings.as_ref()?.http()?.poll.as_ref()?;
            Some(PolledCarrier {
                carrier: Arc::clone(&carrier.name),
                times: poll.times,
            })
        });
        polled.collect()
    }

    /// Returns the function that plans second legs that are due now.
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
            batches: self.commit_share.max_claimed(now_ms),
            priority,
            next_id: BatchId(self.live().plan.numbers(self.store.claims().split_ids())),
        }
    }

    /// Releases claimed batches, and retries until the database commits it.
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
                context
                    .store
                    .claims()
                    .release(batches, due_at_ms, carrier, now_ms)
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

    /// Passes on the effects of a settle commit: callbacks, and due batches of carriers.
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
        self.receipts.wake(&settled.receipts_to);
        self.callbacks.offer(settled.callbacks);
        if settled.more_callbacks {
            self.callbacks.wake();
        }
    }

    /// Returns the buckets that this node sweeps.
    pub(crate) fn my_buckets(&self) -> impl Iterator<Item = Bucket> {
        let buckets = self.store.buckets();
        buckets.filter(|&bucket| self.nodes.is_mine(bucket))
    }

    /// Returns the time for duplicate windows, in Unix milliseconds. On SQLite, open windows are
    /// moved first if the clock was set. On PostgreSQL nodes follow the clock of the server and no
    /// node moves the shared windows.
    pub(crate) async fn followed_ms(&self) -> database::Result<i64> {
        let mut follower = self.follower.lock().await;
        let (now_ms, steady_ms) = self.clock.both_ms();
        let set_by_ms = follower.detector.set_by_ms(now_ms, steady_ms);
        if set_by_ms != 0 {
            tracing::warn!(set_by_ms, "clock: set by an operator or a time service");
            follower.unapplied_ms += set_by_ms;
        }
        if follower.unapplied_ms != 0 && !self.store.is_shared() {
            self.store
                .upkeep()
                .follow_clock(now_ms, follower.unapplied_ms)
                .await?;
        }
        follower.unapplied_ms = 0;
        Ok(now_ms)
    }
}
