//! Changes of accepted messages, by their customers and by operators.
//!
//! A pause or a cancel is completed step by step, whichever node requested it.

use crate::context::clock::Clock;
use crate::error::Error;
use database::Result as StoreResult;
use domain::schedule::{self, MessageState, Progress};
use domain::{Gateway, Leg, MessageId, Money, Refusal, Rulebook};
use std::time::Duration;
use store::{By, MessageKey, Requested, Settled, Stop, StopKind, Store};
use tokio::time::{Instant, sleep};

/// Longest time for the completion of a stop. A dead node is removed in less.
const COMPLETE_TIMEOUT: Duration = Duration::from_secs(8);
/// Delay between two steps. It doubles from the first to the last.
const FIRST_STEP_INTERVAL: Duration = Duration::from_millis(10);
const LAST_STEP_INTERVAL: Duration = Duration::from_millis(200);

/// A cancelled message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cancelled {
    /// The message.
    pub message_id: MessageId,
    /// Its state.
    pub state: MessageState,
    /// The number of cancelled recipients.
    pub cancelled: i64,
    /// The number of other recipients.
    pub not_cancelled: i64,
    /// The charges of the cancelled recipients.
    pub refunded: Money,
    /// `false` if a node may still have unsent recipients. The background completes the cancel.
    pub is_complete: bool,
}

/// A change whose answer is the message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MessageRequest {
    /// Unsent recipients wait for a resume.
    Pause,
    /// A paused message goes on.
    Resume,
    /// The message gets another due time, while no carrier has any of it.
    Reschedule {
        /// The due time, Unix milliseconds.
        send_at_ms: i64,
    },
}

/// An effect of a change on the workers of this node.
pub(crate) enum Effect {
    /// The list of stopped messages changed.
    Stops,
    /// Recipients were settled.
    Settled(Settled),
    /// Batches wait for claims again.
    Released,
}

/// A message that is to be changed.
pub(crate) struct MessageChange<'a> {
    pub(crate) store: &'a Store,
    pub(crate) rules: &'a Rulebook,
    pub(crate) clock: &'a Clock,
    pub(crate) key: MessageKey,
    /// The operator who makes the change, or `None` for the customer.
    pub(crate) by: Option<By>,
    /// Applies the effects on this node.
    pub(crate) apply: &'a (dyn Fn(Effect) + Send + Sync),
}

impl MessageChange<'_> {
    /// Ends and refunds the recipients that no carrier has. After the timeout it returns the counts
    /// so far.
    pub(crate) async fn cancel(self) -> Result<Cancelled, Error> {
        let is_complete = self.stop(StopKind::Cancel).await?;
        let after = self.store.changes().changed(self.key).await?;
        let after = after.ok_or(Refusal::UnknownMessage)?;
        // A message that is being cancelled is stopped as a paused one is.
        let progress = Progress {
            is_paused: false,
            ..after.progress
        };
        Ok(Cancelled {
            message_id: self.key.message,
            state: progress.state(self.clock.now_ms()),
            cancelled: progress.cancelled,
            not_cancelled: progress.recipients - progress.cancelled,
            refunded: after.refunded,
            is_complete,
        })
    }

    /// Makes another change. A message is paused, even if a node is slow to put its recipients back.
    pub(crate) async fn make(self, request: MessageRequest) -> Result<(), Error> {
        match request {
            MessageRequest::Pause => self.stop(StopKind::Pause).await.map(|_is_complete| ()),
            MessageRequest::Resume => self.resume().await,
            MessageRequest::Reschedule { send_at_ms } => self.reschedule(send_at_ms).await,
        }
    }

    /// Lets a paused message go on, at the end of the quiet hours of its gateway.
    async fn resume(self) -> Result<(), Error> {
        let (gateway, environment) = (self.gateway().await?, self.key.environment);
        let quiet = self.rules.quiet_hours(gateway, Leg::First, environment);
        let (changes, now_ms) = (self.store.changes(), self.clock.now_ms());
        let resumed = changes.resume(self.key, now_ms, quiet, self.by.clone());
        resumed.await?.ok_or(Refusal::UnknownMessage)??;
        self.released();
        Ok(())
    }

    /// Gives a message another due time, while no carrier has any of it.
    async fn reschedule(self, send_at_ms: i64) -> Result<(), Error> {
        let now_ms = self.clock.now_ms();
        let at_ms = schedule::check_send_at(send_at_ms, now_ms)?.unwrap_or(now_ms);
        let (gateway, environment) = (self.gateway().await?, self.key.environment);
        let quiet = self.rules.quiet_hours(gateway, Leg::First, environment);
        let due_at_ms = quiet.map_or(at_ms, |quiet| quiet.due(at_ms));
        let changes = self.store.changes();
        let moved = changes.reschedule(self.key, due_at_ms, now_ms, self.by.clone());
        moved.await?.ok_or(Refusal::UnknownMessage)??;
        self.released();
        Ok(())
    }

    /// Requests a stop and completes it. Returns `false` at the timeout.
    async fn stop(&self, kind: StopKind) -> Result<bool, Error> {
        let (changes, now_ms) = (self.store.changes(), self.clock.now_ms());
        let requested = changes.request(self.key, kind, now_ms, self.by.clone());
        let requested = requested.await?.ok_or(Refusal::UnknownMessage)??;
        let Requested::Stopping(stop) = requested else {
            return Ok(true);
        };
        (self.apply)(Effect::Stops);
        let settled = |settled| (self.apply)(Effect::Settled(settled));
        let is_complete = complete(self.store, &stop, || self.clock.now_ms(), settled).await?;
        (self.apply)(Effect::Stops);
        Ok(is_complete)
    }

    fn released(&self) {
        (self.apply)(Effect::Stops);
        (self.apply)(Effect::Released);
    }

    /// Returns the gateway of the message, which has its quiet hours.
    async fn gateway(&self) -> Result<Gateway, Error> {
        let (account, environment) = (Some(self.key.account), self.key.environment);
        let search = self.store.search();
        let found = search.info(account, environment, self.key.message).await?;
        Ok(found.ok_or(Refusal::UnknownMessage)?.gateway)
    }
}

/// Makes one step of a stop. Returns `true` if the stop is complete: no recipient waits and no node
/// has an unsent one.
pub(crate) async fn advance(
    store: &Store,
    stop: &Stop,
    now_ms: i64,
    settled: impl Fn(Settled),
) -> StoreResult<bool> {
    let changes = store.changes();
    let result = changes.step(stop, now_ms).await?;
    settled(result.settled);
    if !result.is_done {
        return Ok(false);
    }
    if stop.cancels {
        return changes
            .finish_cancel(stop.bucket, stop.message, now_ms)
            .await;
    }
    // A rejected recipient may come back while a node has its batch, and must not be sent then.
    if !result.is_claimed {
        changes.forget_pause(stop).await?;
    }
    Ok(true)
}

/// Makes the steps of a stop until it is complete. Returns `false` at the timeout.
async fn complete(
    store: &Store,
    stop: &Stop,
    now_ms: impl Fn() -> i64,
    settled: impl Fn(Settled),
) -> StoreResult<bool> {
    let deadline = Instant::now() + COMPLETE_TIMEOUT;
    let mut pause = FIRST_STEP_INTERVAL;
    while !advance(store, stop, now_ms(), &settled).await? {
        if Instant::now() >= deadline {
            return Ok(false);
        }
        sleep(pause).await;
        pause = LAST_STEP_INTERVAL.min(2 * pause);
    }
    Ok(true)
}
