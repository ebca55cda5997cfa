//! Changes of an accepted message by its customer.

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::changes;
use crate::context::Context;
use crate::error::{Error, within};
use domain::idempotency::{self, Operation};
use domain::schedule::MessageState;
use domain::{MessageId, Money, Refusal};
use std::sync::Arc;
use std::time::Duration;
use store::{KeyedChange, MessageKey, Requested, StopKind};

/// Longest wait of a request for its change.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds after which a change that is under way may be repeated.
const RETRY_AFTER_S: u64 = 5;

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
}

/// Cancels a message: the recipients that no carrier has end and are refunded.
pub async fn cancel(
    admission: &Admission,
    message_id: &str,
    keyed: Option<KeyedAnswer<Cancelled>>,
) -> Result<Changed<Cancelled>, Error> {
    let message = message_key(admission, message_id)?;
    let meaning = idempotency::of_change(Operation::Cancel, &message.message.to_string(), None);
    let shown = |cancelled: &Cancelled| (*cancelled, Some(cancelled.message_id));
    let claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let context = Arc::clone(admission.context());
    let cancelled = finished(cancel_message(context, message)).await?;
    match &claimed.keyed {
        Some(keyed) => keep_answer(admission, keyed, cancelled).await,
        None => Ok(Changed::First(cancelled)),
    }
}

async fn cancel_message(context: Arc<Context>, key: MessageKey) -> Result<Cancelled, Error> {
    let now_ms = || context.clock.now_ms();
    let changes = context.store.changes();
    let requested = changes.request(key, StopKind::Cancel, now_ms()).await?;
    let requested = requested.ok_or(Refusal::UnknownMessage)??;
    if let Requested::Stopping(stop) = requested {
        context.stops_changed();
        let settled = |settled| context.settled(settled);
        let is_complete = changes::complete(&context.store, &stop, now_ms, settled).await?;
        context.stops_changed();
        if !is_complete {
            return Err(under_way());
        }
    }
    let after = changes.changed(key).await?;
    let after = after.ok_or(Refusal::UnknownMessage)?;
    let progress = after.progress;
    Ok(Cancelled {
        message_id: key.message,
        state: progress.state(now_ms()),
        cancelled: progress.cancelled,
        not_cancelled: progress.recipients - progress.cancelled,
        refunded: after.refunded,
    })
}

/// Returns the result of a change that goes on when its client has hung up.
async fn finished<T: Send + 'static>(
    change: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let task = tokio::spawn(change);
    match tokio::time::timeout(CHANGE_TIMEOUT, task).await {
        Ok(Ok(result)) => result,
        Ok(Err(_)) | Err(_) => Err(under_way()),
    }
}

/// Returns the refusal of a change that is not complete. The node completes it later.
fn under_way() -> Error {
    Refusal::ChangeUnderWay {
        retry_after_s: RETRY_AFTER_S,
    }
    .into()
}

fn message_key(admission: &Admission, message_id: &str) -> Result<MessageKey, Error> {
    // A malformed id matches no message.
    let message = message_id.trim().parse();
    Ok(MessageKey {
        account: admission.customer().account.id,
        environment: admission.environment(),
        message: message.map_err(|_| Refusal::UnknownMessage)?,
    })
}

/// Stores the answer of a request with a key. A repeated change has no effect, so the answer may be
/// stored after it.
async fn keep_answer<T>(
    admission: &Admission,
    keyed: &KeyedChange<T>,
    change: T,
) -> Result<Changed<T>, Error> {
    let context = admission.context();
    let messages = context.store.messages();
    let kept = messages.keep_answer(
        admission.customer().account.id,
        admission.environment(),
        keyed.request.clone(),
        (keyed.answer)(&change),
        context.clock.now_ms(),
    );
    let outcome = within(async { Ok(kept.await?) }).await?;
    changed(outcome, |()| change)
}
