//! The tasks behind the callbacks: claim what is due, post it, commit what came of it.

use super::client::{Answer, Client};
use super::connect::Fault;
use super::lanes::{InLane, Lanes, Limits};
use super::network::Internet;
use super::{Callback, CallbackSettings, Clock, Finished, Rows, RowsError};
use domain::AccountId;
use domain::callback::{self, Attempt, Next};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// Callbacks in memory that wait for their turn.
const MAX_WAITING: usize = 20_000;
/// Lanes that one look at the database feeds.
const ORIGINS_PER_LOOK: usize = 1_000;
/// Callbacks claimed for a lane at a time.
const CLAIM_GROUP: usize = 500;
/// Outcomes in one commit.
const COMMIT_GROUP: usize = 500;
/// How often the database is looked at without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The pause between two looks, however many hints there are.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// The pause after the database failed.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);

/// How far a shutdown has come.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
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
pub(super) struct Desk<R> {
    rows: R,
    client: Client<Internet>,
    clock: Clock,
    delays_ms: Vec<i64>,
    lanes: Mutex<Lanes<Callback>>,
    outcomes: mpsc::Sender<Finished>,
    /// Claimed, but not posted, since a shutdown came in between.
    left_over: Mutex<Vec<Callback>>,
    due: Notify,
    landed: Notify,
    phase: watch::Sender<Phase>,
}

impl InLane for Callback {
    fn account(&self) -> AccountId {
        self.account
    }

    fn origin(&self) -> &str {
        &self.origin
    }
}

impl<R: Rows> Desk<R> {
    /// Nothing in hand yet.
    pub(super) fn new(
        rows: R,
        client: Client<Internet>,
        clock: Clock,
        settings: &CallbackSettings,
        outcomes: mpsc::Sender<Finished>,
    ) -> Self {
        let limits = Limits {
            in_flight_per_lane: settings.concurrency_per_origin,
            in_flight: settings.concurrency,
            waiting: MAX_WAITING,
        };
        let delays = settings.retry_delays.iter();
        Self {
            rows,
            client,
            clock,
            delays_ms: delays
                .map(|delay| i64::try_from(delay.as_millis()).unwrap_or(i64::MAX))
                .collect(),
            lanes: Mutex::new(Lanes::new(limits)),
            outcomes,
            left_over: Mutex::default(),
            due: Notify::new(),
            landed: Notify::new(),
            phase: watch::Sender::new(Phase::Open),
        }
    }

    /// Puts callbacks into their lanes and starts as many as may fly; gives back those without room.
    pub(super) fn take(self: &Arc<Self>, callbacks: Vec<Callback>) -> Vec<Callback> {
        let mut lanes = self.lanes();
        let rest = callbacks
            .into_iter()
            .filter_map(|callback| lanes.push(callback).err())
            .collect();
        while let Some(callback) = lanes.next() {
            tokio::spawn(fly(Arc::clone(self), callback));
        }
        rest
    }

    /// How many callbacks there is room for.
    pub(super) fn room(&self) -> usize {
        self.lanes().free()
    }

    /// Has the database looked at.
    pub(super) fn wake(&self) {
        self.due.notify_one();
    }

    /// Ends the tasks in their order, so that nothing claimed is forgotten.
    pub(super) async fn close(&self, patience: Duration, tasks: Vec<JoinHandle<()>>) {
        let mut rest = self.lanes().close();
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
        rest.append(&mut self.left_over());
        if let Err(error) = self.rows.release_callbacks(&rest).await {
            tracing::error!(error = %error, callbacks = rest.len(), "callbacks stay claimed until their lease is over");
        }
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

    /// Claims what is due, as far as there is room.
    async fn look(self: &Arc<Self>) -> Result<(), RowsError> {
        let now_ms = self.clock.now_ms();
        for (bucket, account, origin) in self.rows.due_origins(now_ms, ORIGINS_PER_LOOK).await? {
            let room = self.lanes().room(account, &origin).min(CLAIM_GROUP);
            if room > 0 {
                let claimed = self
                    .rows
                    .claim_callbacks(bucket, account, &origin, now_ms, room)
                    .await?;
                let all = claimed.len() < room;
                let mut rest = self.take(claimed);
                self.release(&mut rest).await?;
                if all {
                    continue;
                }
            }
            self.lanes().expect_more(account, &origin);
        }
        Ok(())
    }

    /// Gives back what an offer took the room of in between.
    async fn release(&self, rest: &mut Vec<Callback>) -> Result<(), RowsError> {
        if *self.phase.borrow() > Phase::Open {
            self.left_over().append(rest);
        }
        if rest.is_empty() {
            Ok(())
        } else {
            self.rows.release_callbacks(rest).await
        }
    }

    /// Posts a callback and decides what becomes of it.
    async fn attempt(&self, callback: &Callback) -> Next {
        let started = Instant::now();
        let in_flight = metrics::gauge!("ogene_callbacks_in_flight");
        in_flight.increment(1);
        let body = callback::body(
            callback.message,
            callback.recipient,
            callback.status,
            callback.customer_reference.as_deref(),
            &callback.url,
        );
        let attempts = callback.attempts.saturating_add(1);
        let said = self.client.post(&callback.url, body, attempts).await;
        in_flight.decrement(1);
        let now_ms = self.clock.now_ms();
        let attempt = match &said {
            Ok(Answer {
                status,
                retry_after,
            }) => Attempt::Answered {
                status: *status,
                retry_after: retry_after.as_deref(),
            },
            Err(_) => Attempt::Unanswered,
        };
        let verdict = callback::verdict(attempt, now_ms);
        let made = usize::try_from(attempts).unwrap_or(usize::MAX);
        let next = callback::next(made, &self.delays_ms, verdict, chance(), now_ms);
        observe(callback, &said, next, started.elapsed());
        next
    }

    /// Hands over the outcome and takes the next callback.
    async fn land(&self, callback: Callback, next: Next) -> Option<Callback> {
        let place = self.outcomes.reserve().await.ok();
        let following = {
            let mut lanes = self.lanes();
            if next == Next::EndMessage {
                lanes.discard(&callback, |other| other.message == callback.message);
            }
            self.finish(&mut lanes, &callback)
        };
        if let Some(place) = place {
            place.send(Finished { callback, next });
        }
        following
    }

    /// Frees a callback's place in flight for the next one.
    fn finish(&self, lanes: &mut Lanes<Callback>, callback: &Callback) -> Option<Callback> {
        if lanes.finish(callback) {
            self.due.notify_one();
        }
        if lanes.in_flight() == 0 {
            self.landed.notify_waiters();
        }
        lanes.next()
    }

    /// Commits outcomes; repeats it while the database fails and nobody wants to end.
    async fn write_down(&self, finished: &[Finished]) {
        while let Err(error) = self.rows.finish_callbacks(finished).await {
            tracing::error!(error = %error, callbacks = finished.len(), "outcomes of callbacks are not committed yet");
            if *self.phase.borrow() == Phase::Quiet {
                return;
            }
            sleep(FAILURE_PAUSE).await;
        }
    }

    /// The lock, also after a panic elsewhere: its holders leave nothing half done.
    fn lanes(&self) -> MutexGuard<'_, Lanes<Callback>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left_over(&self) -> MutexGuard<'_, Vec<Callback>> {
        self.left_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the database on hints and every second, until a shutdown.
pub(super) async fn claim<R: Rows>(desk: Arc<Desk<R>>) {
    let mut phase = desk.phase.subscribe();
    while *phase.borrow_and_update() == Phase::Open {
        if let Err(error) = desk.look().await {
            tracing::error!(error = %error, "due callbacks cannot be claimed");
        }
        desk.client.sweep();
        tokio::select! {
            _ = phase.changed() => {}
            () = sleep(LOOK_EVERY) => {}
            () = desk.due.notified() => sleep(LOOK_PAUSE).await,
        }
    }
}

/// Commits outcomes as they come, all at once that came during the last commit.
pub(super) async fn commit<R: Rows>(desk: Arc<Desk<R>>, mut finished: mpsc::Receiver<Finished>) {
    let mut phase = desk.phase.subscribe();
    let mut group = Vec::with_capacity(COMMIT_GROUP);
    loop {
        tokio::select! {
            count = finished.recv_many(&mut group, COMMIT_GROUP) => {
                if count == 0 {
                    return;
                }
                desk.write_down(&group).await;
                group.clear();
            }
            () = reached(&mut phase, Phase::Quiet), if !finished.is_closed() => finished.close(),
        }
    }
}

/// Posts one callback after the other, until none may fly.
async fn fly<R: Rows>(desk: Arc<Desk<R>>, mut callback: Callback) {
    let mut phase = desk.phase.subscribe();
    loop {
        let attempted = tokio::select! {
            next = desk.attempt(&callback) => Some(next),
            () = reached(&mut phase, Phase::BreakingOff) => None,
        };
        let Some(next) = attempted else {
            desk.left_over().push(callback.clone());
            desk.finish(&mut desk.lanes(), &callback);
            return;
        };
        match desk.land(callback, next).await {
            Some(following) => callback = following,
            None => return,
        }
    }
}

/// Waits until a shutdown has come so far.
async fn reached(phase: &mut watch::Receiver<Phase>, far: Phase) {
    // The sender lives in the desk that the caller holds, so the wait ends in no other way.
    let _ = phase.wait_for(|&phase| phase >= far).await;
}

/// A number nobody can foresee; without a source of chance the middle, which spreads nothing.
fn chance() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX / 2)
}

/// Counts an attempt, and logs what did not arrive: the origin only, never the URL or the recipient.
fn observe(callback: &Callback, said: &Result<Answer, Fault>, next: Next, took: Duration) {
    let result = match said {
        Ok(answer) => match answer.status {
            200..=299 => "accepted",
            300..=399 => "redirected",
            400..=499 => "refused",
            _ => "failed",
        },
        Err(fault) => fault.class(),
    };
    metrics::counter!("ogene_callback_attempts_total", "result" => result).increment(1);
    metrics::histogram!("ogene_callback_seconds").record(took.as_secs_f64());
    match next {
        Next::Done => {}
        Next::Retry { .. } => tracing::debug!(
            callback.origin,
            callback.attempts,
            callback.result = result,
            "callback failed and will be retried",
        ),
        Next::Dead | Next::EndMessage => tracing::info!(
            callback.origin,
            callback.attempts,
            callback.result = result,
            "callback is dead",
        ),
    }
}
