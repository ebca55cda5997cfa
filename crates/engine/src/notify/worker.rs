//! The worker of the notify stage: it claims due callbacks, posts them, and commits the outcomes.

use super::attempt::{Attempts, Ended};
use super::client::Client;
use super::health::AttemptResult;
use super::limits::WebhookLimits;
use super::observe::{self, Measures};
use super::partitions::Partitions;
use super::signing::Secrets;
use super::waiting::InLane;
use crate::context::clock::Clock;
use crate::context::system::System;
use crate::settings::CallbackSettings;
use database::Outage;
use domain::{AccountId, Environment, NodeId, callback};
use parking_lot::{Mutex, MutexGuard};
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use store::{AttemptOutcome, Callback, CallbackRoom, Finished, OriginKey, Store};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Maximum number of callbacks of a lane in one claim.
const CLAIM_BATCH_SIZE: usize = 500;
/// Maximum number of origins in one poll. A send may name an origin of its own, and origins whose
/// callbacks are not due yet are skipped one by one. The next poll continues after the last origin.
const MAX_ORIGINS_PER_POLL: usize = 1_000;
/// Duration of a claim, milliseconds.
const CLAIM_MS: i64 = 120_000;
/// Time after which a callback to a failing receiver is given up, milliseconds. If all retries take
/// longer, that time counts.
const MIN_GIVE_UP_MS: i64 = 86_400_000;
/// Delay before a failed database operation is retried.
pub(crate) const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// Longest time of a callback in a queue in memory, milliseconds. It is shorter than a claim, so
/// that no other node takes the callback over. Afterwards the callback is released to the database.
const MAX_QUEUED_MS: i64 = 40_000;

/// The phases of a shutdown.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// No shutdown has begun.
    Open,
    /// The worker claims no further callbacks.
    Closing,
    /// Attempts in flight are aborted.
    Aborting,
    /// Nothing is in flight.
    Drained,
}

/// The state that the tasks share.
pub(crate) struct WebhookWorker {
    pub(crate) store: Store,
    /// The number of this node.
    pub(crate) node: NodeId,
    pub(crate) attempts: Attempts,
    pub(crate) clock: Clock,
    /// Time after which a callback to a failing receiver is given up, milliseconds.
    pub(crate) give_up_after_ms: i64,
    pub(crate) lanes: Mutex<Partitions<PendingWebhook>>,
    pub(crate) outcomes: mpsc::Sender<AttemptOutcome>,
    pub(crate) due: Notify,
    pub(crate) all_finished: Notify,
    /// Notified when no further task may start before a pause.
    pub(crate) pause: Notify,
    pub(crate) phase: watch::Sender<Phase>,
    /// Outage of commits of outcomes.
    pub(crate) commits: Outage,
}

/// A callback in a lane or in flight.
pub(crate) struct PendingWebhook {
    pub(crate) callback: Callback,
    pub(crate) queued_at_ms: i64,
}

impl PendingWebhook {
    /// Returns the outcome of a callback that was not attempted.
    fn untouched(self) -> AttemptOutcome {
        AttemptOutcome::new(self.callback, Finished::Untouched)
    }
}

impl InLane for PendingWebhook {
    fn account(&self) -> AccountId {
        self.callback.account
    }

    fn environment(&self) -> Environment {
        self.callback.environment
    }

    fn origin(&self) -> &str {
        &self.callback.origin
    }

    fn is_retry(&self) -> bool {
        self.callback.attempts > 0
    }
}

impl WebhookWorker {
    /// Creates a worker without callbacks.
    pub(crate) fn new(
        store: Store,
        node: NodeId,
        client: Client,
        secrets: Secrets,
        system: System,
        settings: &CallbackSettings,
        outcomes: mpsc::Sender<AttemptOutcome>,
    ) -> Self {
        let delays = settings.retry_delays.iter();
        let delays_ms: Vec<i64> = delays
            .map(|delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX))
            .collect();
        Self {
            store,
            node,
            give_up_after_ms: callback::longest_ms(&delays_ms).max(MIN_GIVE_UP_MS),
            clock: system.clock.clone(),
            attempts: Attempts {
                client,
                secrets,
                clock: system.clock,
                random: system.random,
                measures: Measures::default(),
                delays_ms,
            },
            lanes: Mutex::new(Partitions::new(WebhookLimits::of(settings))),
            outcomes,
            due: Notify::new(),
            all_finished: Notify::new(),
            pause: Notify::new(),
            phase: watch::Sender::new(Phase::Open),
            commits: Outage::of("outcomes of callbacks are not committed yet"),
        }
    }

    /// Queues callbacks and starts as many as possible. Returns those above the capacity.
    pub(crate) fn take(self: &Arc<Self>, callbacks: Vec<Callback>) -> Vec<AttemptOutcome> {
        let queued_at_ms = self.clock.now_ms();
        let mut lanes = self.lanes();
        let without_capacity = callbacks.into_iter().filter_map(|callback| {
            lanes
                .push(PendingWebhook {
                    callback,
                    queued_at_ms,
                })
                .err()
        });
        let rest = without_capacity.map(PendingWebhook::untouched).collect();
        self.start(&mut lanes);
        rest
    }

    /// Returns how many callbacks fit into memory.
    pub(crate) fn capacity(&self) -> CallbackRoom {
        self.lanes().free()
    }

    /// Returns the number of callbacks in flight.
    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> usize {
        self.lanes().in_flight()
    }

    /// Wakes the task that polls the database.
    pub(crate) fn wake(&self) {
        self.due.notify_one();
    }

    /// Ends the tasks in order, so that every claimed callback is released or committed.
    pub(crate) async fn close(&self, timeouts: Duration, tasks: Vec<JoinHandle<()>>) {
        let waiting = self.lanes().close();
        self.phase.send_replace(Phase::Closing);
        if timeout(timeouts, self.wait_until_idle()).await.is_err() {
            self.phase.send_replace(Phase::Aborting);
            self.wait_until_idle().await;
        }
        self.phase.send_replace(Phase::Drained);
        for task in tasks {
            if task.await.is_err() {
                tracing::error!("callback task: ended by a panic");
            }
        }
        self.commit_outcomes(waiting.into_iter().map(PendingWebhook::untouched).collect())
            .await;
    }

    async fn wait_until_idle(&self) {
        loop {
            let finished = self.all_finished.notified();
            if self.lanes().in_flight() == 0 {
                return;
            }
            finished.await;
        }
    }

    /// Claims due callbacks of some origins, as far as there is capacity. If a claim fails, the
    /// next poll continues after its origin, so that the others are not delayed.
    pub(crate) async fn poll(
        self: &Arc<Self>,
        position: &mut Option<OriginKey>,
    ) -> database::Result<()> {
        let now_ms = self.clock.now_ms();
        let due = self
            .store
            .outbox()
            .due_origins(now_ms, position.as_ref(), MAX_ORIGINS_PER_POLL);
        let due = due.await?;
        for of in due.found {
            *position = Some(of.clone());
            let (_, account, environment, origin) = of.clone();
            let capacity = self.lanes().capacity(environment, account, &origin);
            let capacity = capacity.min(CLAIM_BATCH_SIZE);
            if capacity > 0 {
                // The time is read again, because a poll may take long.
                let now_ms = self.clock.now_ms();
                let until_ms = now_ms + CLAIM_MS;
                let claimed = self
                    .store
                    .outbox()
                    .claim(of, now_ms, capacity, self.node, until_ms)
                    .await?;
                let all = claimed.len() < capacity;
                // An offer may have used the capacity meanwhile.
                let rest = self.take(claimed);
                self.release(rest).await;
                if all {
                    continue;
                }
            }
            // Without a lane there is no capacity at all. The next poll finds the origin again.
            let mut lanes = self.lanes();
            lanes.of_mut(environment).expect_more(account, &origin);
        }
        *position = due.behind;
        Ok(())
    }

    /// Queues the outcome for its commit, and returns the next callback for this task.
    pub(crate) async fn complete(
        self: &Arc<Self>,
        webhook: PendingWebhook,
        Ended {
            finished,
            result,
            attempted,
        }: Ended,
    ) -> Option<PendingWebhook> {
        if finished == Finished::EndMessage {
            let message = webhook.callback.message;
            let ended = self
                .lanes()
                .of_mut(webhook.environment())
                .withdraw(&webhook, |other| other.callback.message == message);
            for other in ended {
                // Only a shutdown closes the queue, and not while this callback is in flight.
                let ended = AttemptOutcome::new(other.callback, Finished::GivenUp);
                let _ = self.outcomes.send(ended).await;
            }
        }
        let permit = self.outcomes.reserve().await.ok();
        let following = self.finish(&webhook, result);
        if let Some(permit) = permit {
            permit.send(AttemptOutcome {
                callback: webhook.callback,
                finished,
                attempted,
            });
        }
        following
    }

    /// Frees the concurrency of a callback. Starts further tasks if the receiver has become
    /// healthy.
    pub(crate) fn finish(
        self: &Arc<Self>,
        webhook: &PendingWebhook,
        result: AttemptResult,
    ) -> Option<PendingWebhook> {
        let mut lanes = self.lanes();
        let (release, following) = lanes.finish(webhook, result);
        if release.needs_refill {
            self.due.notify_one();
        }
        if following.is_none() && lanes.in_flight() == 0 {
            self.all_finished.notify_waiters();
        }
        if let Some(is_open) = release.is_open {
            observe::breaker_changed(&webhook.callback, is_open, lanes.open_breakers());
        }
        self.start(&mut lanes);
        following
    }

    /// Releases callbacks above the capacity. They are claimed again as soon as their lane runs
    /// low.
    pub(crate) async fn release(&self, rest: Vec<AttemptOutcome>) {
        let lane = |outcome: &AttemptOutcome| {
            let callback = &outcome.callback;
            (
                callback.environment,
                callback.account,
                callback.origin.clone(),
            )
        };
        let mut left: Vec<_> = rest.iter().map(lane).collect();
        left.dedup();
        self.commit_outcomes(rest).await;
        for (environment, account, origin) in left {
            let mut lanes = self.lanes();
            if !lanes.of_mut(environment).expect_more(account, &origin) {
                self.due.notify_one();
            }
        }
    }

    /// Commits outcomes, and retries until the commit succeeds or the shutdown has ended.
    pub(crate) async fn commit_outcomes(&self, outcomes: Vec<AttemptOutcome>) {
        if outcomes.is_empty() {
            return;
        }
        let finish = || self.store.outbox().finish(self.node, outcomes.clone());
        while self.commits.note(finish().await).is_none() {
            if *self.phase.borrow() == Phase::Drained {
                return;
            }
            sleep(FAILURE_PAUSE).await;
        }
    }

    /// Locks the lanes. Their holders leave them consistent even if they panic.
    pub(crate) fn lanes(&self) -> MutexGuard<'_, Partitions<PendingWebhook>> {
        self.lanes.lock()
    }

    /// Starts a task for each callback that may start now.
    pub(crate) fn start(self: &Arc<Self>, lanes: &mut Partitions<PendingWebhook>) {
        while let Some(webhook) = lanes.start() {
            tokio::spawn(run_attempts(Arc::clone(self), webhook));
        }
        if lanes.must_pause() {
            self.pause.notify_one();
        }
    }

    /// Returns `true` if a callback waited too long for a failing receiver. With one callback at a
    /// time such a receiver would never catch up.
    fn waited_too_long(&self, webhook: &PendingWebhook) -> bool {
        let waited_ms = self.clock.now_ms() - webhook.callback.due_at_ms;
        waited_ms > self.give_up_after_ms && self.lanes().of(webhook.environment()).is_open(webhook)
    }
}

async fn run_attempts(worker: Arc<WebhookWorker>, mut webhook: PendingWebhook) {
    let mut phase = worker.phase.subscribe();
    loop {
        let is_stale = worker.clock.now_ms() - webhook.queued_at_ms > MAX_QUEUED_MS;
        let waited_too_long = worker.waited_too_long(&webhook);
        let ended = tokio::select! {
            biased;
            () = reached(&mut phase, Phase::Aborting), if !is_stale => Ended::UNTOUCHED,
            () = ready(()), if waited_too_long && !is_stale => Ended::GIVEN_UP,
            ended = worker.attempts.make(&webhook.callback), if !is_stale => ended,
            else => Ended::UNTOUCHED,
        };
        match worker.complete(webhook, ended).await {
            Some(following) => webhook = following,
            None => return,
        }
    }
}

/// Waits until a shutdown has reached a phase.
pub(crate) async fn reached(phase: &mut watch::Receiver<Phase>, target: Phase) {
    // The sender lives in the worker that the caller holds, so the wait ends in no other way.
    let _ = phase.wait_for(|&phase| phase >= target).await;
}
