//! The tasks behind the callbacks: claim what is due, post it, commit what came of it.

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
use domain::{AccountId, Environment, callback};
use parking_lot::{Mutex, MutexGuard};
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use store::{AttemptOutcome, Callback, CallbackRoom, Finished, OriginKey, Store};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Callbacks claimed for a lane at a time.
const CLAIM_GROUP: usize = 500;
/// Origins looked at in one look: each send may name one of its own, and those whose callbacks wait for hours are
/// stepped over one by one. The next look goes on behind the last.
const LOOK_STEPS: usize = 1_000;
/// How long a claim is this node's own, milliseconds.
const CLAIM_MS: i64 = 120_000;
/// How long a receiver that fails may keep a callback waiting for its turn, milliseconds, or as long as all retries
/// take, where that is longer.
const MIN_WAIT_MS: i64 = 86_400_000;
/// The pause after the database failed.
pub(crate) const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// How long a callback waits in hand, milliseconds: less than any claim lasts, so that no other node takes it
/// over meanwhile. Then it goes back to the database, where it can be claimed anew.
const MAX_HELD_MS: i64 = 40_000;

/// How far a shutdown has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// There is none.
    Open,
    /// Nothing new is claimed.
    Closing,
    /// Attempts in flight are broken off.
    BreakingOff,
    /// Nothing is in flight any more.
    Quiet,
}

/// The state that the tasks share.
pub(crate) struct WebhookWorker {
    pub(crate) store: Store,
    /// The number of this process among all that share the database.
    pub(crate) node: i64,
    pub(crate) attempts: Attempts,
    pub(crate) clock: Clock,
    /// How long a receiver that fails may keep a callback waiting for its turn, milliseconds.
    pub(crate) max_wait_ms: i64,
    pub(crate) lanes: Mutex<Partitions<PendingWebhook>>,
    pub(crate) outcomes: mpsc::Sender<AttemptOutcome>,
    pub(crate) due: Notify,
    pub(crate) room_freed: Notify,
    /// No flight may begin before a pause.
    pub(crate) pause: Notify,
    pub(crate) phase: watch::Sender<Phase>,
    /// Commits of outcomes.
    pub(crate) commits: Outage,
}

/// A callback in a lane or in flight.
pub(crate) struct PendingWebhook {
    pub(crate) callback: Callback,
    pub(crate) since_ms: i64,
}

impl PendingWebhook {
    /// It goes back as it was.
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
    /// Nothing in hand yet.
    pub(crate) fn new(
        store: Store,
        node: i64,
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
            max_wait_ms: callback::longest_ms(&delays_ms).max(MIN_WAIT_MS),
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
            room_freed: Notify::new(),
            pause: Notify::new(),
            phase: watch::Sender::new(Phase::Open),
            commits: Outage::of("outcomes of callbacks are not committed yet"),
        }
    }

    /// Puts callbacks into their lanes and starts as many as may fly; gives back those without room.
    pub(crate) fn take(self: &Arc<Self>, callbacks: Vec<Callback>) -> Vec<AttemptOutcome> {
        let since_ms = self.clock.now_ms();
        let mut lanes = self.lanes();
        let without_room = callbacks
            .into_iter()
            .filter_map(|callback| lanes.push(PendingWebhook { callback, since_ms }).err());
        let rest = without_room.map(PendingWebhook::untouched).collect();
        self.start(&mut lanes);
        rest
    }

    /// How many callbacks there is room for.
    pub(crate) fn room(&self) -> CallbackRoom {
        self.lanes().free()
    }

    /// How many are in flight.
    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> usize {
        self.lanes().in_flight()
    }

    /// Wakes the task that looks at the database.
    pub(crate) fn wake(&self) {
        self.due.notify_one();
    }

    /// Ends the tasks in their order, so that nothing claimed is forgotten.
    pub(crate) async fn close(&self, timeouts: Duration, tasks: Vec<JoinHandle<()>>) {
        let waiting = self.lanes().close();
        self.phase.send_replace(Phase::Closing);
        if timeout(timeouts, self.all_landed()).await.is_err() {
            self.phase.send_replace(Phase::BreakingOff);
            self.all_landed().await;
        }
        self.phase.send_replace(Phase::Quiet);
        for task in tasks {
            if task.await.is_err() {
                tracing::error!("a task of the callbacks ended in a panic");
            }
        }
        self.write_down(waiting.into_iter().map(PendingWebhook::untouched).collect())
            .await;
    }

    async fn all_landed(&self) {
        loop {
            let freed = self.room_freed.notified();
            if self.lanes().in_flight() == 0 {
                return;
            }
            freed.await;
        }
    }

    /// Claims what is due of some origins, as far as there is room. Where a claim fails, the next look goes on behind
    /// its origin, so that it holds up nobody else's.
    pub(crate) async fn look(
        self: &Arc<Self>,
        behind: &mut Option<OriginKey>,
    ) -> database::Result<()> {
        let now_ms = self.clock.now_ms();
        let due = self.store.due_origins(now_ms, behind.as_ref(), LOOK_STEPS);
        let due = due.await?;
        for of in due.found {
            *behind = Some(of.clone());
            let (_, account, environment, origin) = of.clone();
            let room = self.lanes().room(environment, account, &origin);
            let room = room.min(CLAIM_GROUP);
            if room > 0 {
                // A look may be a long one.
                let now_ms = self.clock.now_ms();
                let until_ms = now_ms + CLAIM_MS;
                let claimed = self
                    .store
                    .claim_callbacks(of, now_ms, room, self.node, until_ms)
                    .await?;
                let all = claimed.len() < room;
                // An offer may have taken the room in between.
                let rest = self.take(claimed);
                self.give_back(rest).await;
                if all {
                    continue;
                }
            }
            // Without a lane no room is left for any: it is found when it is looked again.
            let mut lanes = self.lanes();
            lanes.of_mut(environment).expect_more(account, &origin);
        }
        *behind = due.behind;
        Ok(())
    }

    /// Hands over the outcome and takes the next callback.
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
                // Only a shutdown closes the queue, and not while this one is in flight.
                let ended = AttemptOutcome::new(other.callback, Finished::GivenUp);
                let _ = self.outcomes.send(ended).await;
            }
        }
        let place = self.outcomes.reserve().await.ok();
        let following = self.finish(&webhook, result);
        if let Some(place) = place {
            place.send(AttemptOutcome {
                callback: webhook.callback,
                finished,
                attempted,
            });
        }
        following
    }

    /// Frees a callback's place in flight for the next one. A receiver that is well again gets more than that.
    pub(crate) fn finish(
        self: &Arc<Self>,
        webhook: &PendingWebhook,
        result: AttemptResult,
    ) -> Option<PendingWebhook> {
        let mut lanes = self.lanes();
        let (release, following) = lanes.finish(webhook, result);
        if release.wants_more {
            self.due.notify_one();
        }
        if following.is_none() && lanes.in_flight() == 0 {
            self.room_freed.notify_waiters();
        }
        if let Some(is_broken) = release.broken {
            observe::judged(&webhook.callback, is_broken, lanes.broken());
        }
        self.start(&mut lanes);
        following
    }

    /// Gives back what found no room in hand, to be claimed as soon as its lane has run low.
    pub(crate) async fn give_back(&self, rest: Vec<AttemptOutcome>) {
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
        self.write_down(rest).await;
        for (environment, account, origin) in left {
            let mut lanes = self.lanes();
            if !lanes.of_mut(environment).expect_more(account, &origin) {
                self.due.notify_one();
            }
        }
    }

    /// Commits outcomes; repeats it while the database fails and nobody wants to end.
    pub(crate) async fn write_down(&self, outcomes: Vec<AttemptOutcome>) {
        if outcomes.is_empty() {
            return;
        }
        let finish = || self.store.finish_callbacks(self.node, outcomes.clone());
        while self.commits.note(finish().await).is_none() {
            if *self.phase.borrow() == Phase::Quiet {
                return;
            }
            sleep(FAILURE_PAUSE).await;
        }
    }

    /// The lock, also after a panic elsewhere: its holders leave nothing half done.
    pub(crate) fn lanes(&self) -> MutexGuard<'_, Partitions<PendingWebhook>> {
        self.lanes.lock()
    }

    /// Begins as many flights as may begin now.
    pub(crate) fn start(self: &Arc<Self>, lanes: &mut Partitions<PendingWebhook>) {
        while let Some(in_hand) = lanes.start() {
            tokio::spawn(fly(Arc::clone(self), in_hand));
        }
        if lanes.wants_pause() {
            self.pause.notify_one();
        }
    }

    /// Returns `true` if it waited too long for a receiver that fails: one that is told of four a minute never catches up.
    fn is_over(&self, in_hand: &PendingWebhook) -> bool {
        let waited_ms = self.clock.now_ms() - in_hand.callback.due_at_ms;
        waited_ms > self.max_wait_ms && self.lanes().of(in_hand.environment()).is_broken(in_hand)
    }
}

async fn fly(worker: Arc<WebhookWorker>, mut in_hand: PendingWebhook) {
    let mut phase = worker.phase.subscribe();
    loop {
        let is_stale = worker.clock.now_ms() - in_hand.since_ms > MAX_HELD_MS;
        let is_over = worker.is_over(&in_hand);
        let ended = tokio::select! {
            biased;
            () = reached(&mut phase, Phase::BreakingOff), if !is_stale => Ended::UNTOUCHED,
            () = ready(()), if is_over && !is_stale => Ended::GIVEN_UP,
            ended = worker.attempts.make(&in_hand.callback), if !is_stale => ended,
            else => Ended::UNTOUCHED,
        };
        match worker.complete(in_hand, ended).await {
            Some(following) => in_hand = following,
            None => return,
        }
    }
}

/// Waits until a shutdown has come so far.
pub(crate) async fn reached(phase: &mut watch::Receiver<Phase>, far: Phase) {
    // The sender lives in the worker that the caller holds, so the wait ends in no other way.
    let _ = phase.wait_for(|&phase| phase >= far).await;
}
