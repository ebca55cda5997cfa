//! The tasks behind the callbacks: claim what is due, post it, commit what came of it.

use super::attempt::Ended;
use super::client::Client;
use super::health::Went;
use super::lane::InLane;
use super::limits::Limits;
use super::observe::{self, Measures};
use super::partitions::Partitions;
use super::signing::Secrets;
use crate::context::clock::Clock;
use crate::context::random::Chance;
use crate::context::system::World;
use crate::settings::CallbackSettings;
use database::Outage;
use domain::{AccountId, Environment, callback};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{Callback, CallbackRoom, Finished, OriginKey, Outcome, Revision, Store};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Callbacks claimed for a lane at a time.
const CLAIM_GROUP: usize = 500;
/// Outcomes in one commit.
const COMMIT_GROUP: usize = 500;
/// The pause between two looks, however many hints there are.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// Origins looked at in one look: each send may name one of its own, and those whose callbacks wait for hours are
/// stepped over one by one. The next look goes on behind the last.
const LOOK_STEPS: usize = 1_000;
/// The pause before a look that goes on: a round over many origins neither takes a core nor long.
const ROUND_PAUSE: Duration = Duration::from_millis(100);
/// How long a claim is this node's own, milliseconds.
const CLAIM_MS: i64 = 120_000;
/// How long a receiver that fails may keep a callback waiting for its turn, milliseconds, or as long as all retries
/// take, where that is longer.
const LEAST_PATIENCE_MS: i64 = 86_400_000;
/// The pause after the database failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// How far a shutdown has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Phase {
    /// There is none.
    Open,
    /// Nothing new is claimed.
    Closing,
    /// What is in flight is broken off.
    BreakingOff,
    /// Nothing is in flight any more.
    Quiet,
}

/// What the tasks share.
pub(crate) struct Desk {
    pub(crate) store: Store,
    /// The number of this process among all that share the database.
    pub(crate) node: i64,
    pub(crate) client: Client,
    pub(crate) secrets: Secrets,
    pub(crate) clock: Clock,
    pub(crate) chance: Chance,
    pub(crate) measures: Measures,
    pub(crate) delays_ms: Vec<i64>,
    /// How long a receiver that fails may keep a callback waiting for its turn, milliseconds.
    pub(crate) patience_ms: i64,
    pub(crate) lanes: Mutex<Partitions<InHand>>,
    pub(crate) outcomes: mpsc::Sender<Outcome>,
    pub(crate) due: Notify,
    pub(crate) landed: Notify,
    /// No flight may begin before a pause.
    pub(crate) pause: Notify,
    pub(crate) phase: watch::Sender<Phase>,
    /// Commits of outcomes.
    pub(crate) commits: Outage,
}

/// A callback in a lane or in flight.
pub(crate) struct InHand {
    pub(crate) callback: Callback,
    pub(crate) since_ms: i64,
}

impl InHand {
    /// It goes back as it was.
    fn untouched(self) -> Outcome {
        Outcome::new(self.callback, Finished::Untouched)
    }
}

impl InLane for InHand {
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

impl Desk {
    /// Nothing in hand yet.
    pub(crate) fn new(
        store: Store,
        node: i64,
        client: Client,
        secrets: Secrets,
        world: World,
        settings: &CallbackSettings,
        outcomes: mpsc::Sender<Outcome>,
    ) -> Self {
        let delays = settings.retry_delays.iter();
        let delays_ms: Vec<i64> = delays
            .map(|delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX))
            .collect();
        Self {
            store,
            node,
            client,
            secrets,
            clock: world.clock,
            chance: world.chance,
            measures: Measures::default(),
            patience_ms: callback::longest_ms(&delays_ms).max(LEAST_PATIENCE_MS),
            delays_ms,
            lanes: Mutex::new(Partitions::new(Limits::of(settings))),
            outcomes,
            due: Notify::new(),
            landed: Notify::new(),
            pause: Notify::new(),
            phase: watch::Sender::new(Phase::Open),
            commits: Outage::of("outcomes of callbacks are not committed yet"),
        }
    }

    /// Puts callbacks into their lanes and starts as many as may fly; gives back those without room.
    pub(crate) fn take(self: &Arc<Self>, callbacks: Vec<Callback>) -> Vec<Outcome> {
        let since_ms = self.clock.now_ms();
        let mut lanes = self.lanes();
        let without_room = callbacks
            .into_iter()
            .filter_map(|callback| lanes.push(InHand { callback, since_ms }).err());
        let rest = without_room.map(InHand::untouched).collect();
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

    /// Has the database looked at.
    pub(crate) fn wake(&self) {
        self.due.notify_one();
    }

    /// Ends the tasks in their order, so that nothing claimed is forgotten.
    pub(crate) async fn close(&self, patience: Duration, tasks: Vec<JoinHandle<()>>) {
        let waiting = self.lanes().close();
        self.phase.send_replace(Phase::Closing);
        if timeout(patience, self.all_landed()).await.is_err() {
            self.phase.send_replace(Phase::BreakingOff);
            self.all_landed().await;
        }
        self.phase.send_replace(Phase::Quiet);
        for task in tasks {
            if task.await.is_err() {
                tracing::error!("a task of the callbacks ended in a panic");
            }
        }
        self.write_down(waiting.into_iter().map(InHand::untouched).collect())
            .await;
    }

    async fn all_landed(&self) {
        loop {
            let landed = self.landed.notified();
            if self.lanes().in_flight() == 0 {
                return;
            }
            landed.await;
        }
    }

    /// Claims what is due of some origins, as far as there is room. Where a claim fails, the next look goes on behind
    /// its origin, so that it holds up nobody else's.
    async fn look(self: &Arc<Self>, behind: &mut Option<OriginKey>) -> database::Result<()> {
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
    pub(crate) async fn land(
        self: &Arc<Self>,
        landed: InHand,
        Ended {
            finished,
            went,
            attempted,
        }: Ended,
    ) -> Option<InHand> {
        if finished == Finished::EndMessage {
            let message = landed.callback.message;
            let ended = self
                .lanes()
                .of_mut(landed.environment())
                .withdraw(&landed, |other| other.callback.message == message);
            for other in ended {
                // Only a shutdown closes the queue, and not while this one is in flight.
                let ended = Outcome::new(other.callback, Finished::GivenUp);
                let _ = self.outcomes.send(ended).await;
            }
        }
        let place = self.outcomes.reserve().await.ok();
        let following = self.finish(&landed, went);
        if let Some(place) = place {
            place.send(Outcome {
                callback: landed.callback,
                finished,
                attempted,
            });
        }
        following
    }

    /// Frees a callback's place in flight for the next one. A receiver that is well again gets more than that.
    pub(crate) fn finish(self: &Arc<Self>, landed: &InHand, went: Went) -> Option<InHand> {
        let mut lanes = self.lanes();
        let (landing, following) = lanes.finish(landed, went);
        if landing.wants_more {
            self.due.notify_one();
        }
        if following.is_none() && lanes.in_flight() == 0 {
            self.landed.notify_waiters();
        }
        if let Some(is_broken) = landing.broken {
            observe::judged(&landed.callback, is_broken, lanes.broken());
        }
        self.start(&mut lanes);
        following
    }

    /// Gives back what found no room in hand, to be claimed as soon as its lane has run low.
    pub(crate) async fn give_back(&self, rest: Vec<Outcome>) {
        let lane = |outcome: &Outcome| {
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
    pub(crate) async fn write_down(&self, outcomes: Vec<Outcome>) {
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
    pub(crate) fn lanes(&self) -> MutexGuard<'_, Partitions<InHand>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the database on hints and every so often, until a shutdown.
pub(crate) async fn claim(desk: Arc<Desk>, every: Duration) {
    let mut phase = desk.phase.subscribe();
    // How far the round over all origins has come, and whether one is to follow that was asked for meanwhile.
    let (mut behind, mut another) = (None, false);
    let outage = Outage::of("due callbacks cannot be claimed");
    while *phase.borrow_and_update() == Phase::Open {
        let mut pause = every;
        let looked = outage.note(desk.look(&mut behind).await).is_some();
        if looked && (behind.is_some() || std::mem::take(&mut another)) {
            pause = every.min(ROUND_PAUSE);
        }
        desk.client.sweep();
        tokio::select! {
            biased;
            _ = phase.changed() => {}
            () = sleep(pause) => {}
            () = desk.due.notified() => {
                another = behind.is_some();
                sleep(LOOK_PAUSE).await;
            }
        }
    }
}

/// Follows the changes of secrets, until a shutdown.
pub(crate) async fn follow(desk: Arc<Desk>, revision: watch::Receiver<Revision>) {
    let mut phase = desk.phase.subscribe();
    tokio::select! {
        biased;
        () = reached(&mut phase, Phase::Closing) => {}
        () = desk.secrets.follow(&desk.store, revision) => {}
    }
}

/// Commits outcomes as they come, all at once that came during the last commit.
pub(crate) async fn commit(desk: Arc<Desk>, mut finished: mpsc::Receiver<Outcome>) {
    let mut phase = desk.phase.subscribe();
    let mut group = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = reached(&mut phase, Phase::Quiet), if !finished.is_closed() => finished.close(),
            count = finished.recv_many(&mut group, COMMIT_GROUP) => {
                if count == 0 {
                    return;
                }
                desk.write_down(std::mem::take(&mut group)).await;
            }
        }
    }
}

/// Waits until a shutdown has come so far.
pub(crate) async fn reached(phase: &mut watch::Receiver<Phase>, far: Phase) {
    // The sender lives in the desk that the caller holds, so the wait ends in no other way.
    let _ = phase.wait_for(|&phase| phase >= far).await;
}
