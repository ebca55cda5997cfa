//! Changes of an accepted message by its customer.

use super::admission::Admission;
use crate::accept::keyed::Begun;
use crate::admit::keys::KeyClaim;
use crate::changes;
use crate::context::Context;
use crate::error::{Error, within};
use domain::idempotency::{self, IdempotencyKey, Operation, RequestFingerprint};
use domain::schedule::MessageState;
use domain::{MessageId, Money, Refusal};
use std::sync::Arc;
use std::time::Duration;
use store::{KeyedRequest, MessageKey, Outcome, Requested, StopKind, StoredAnswer};

/// Longest wait of a request for its change.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds after which a change that is under way may be repeated.
const RETRY_AFTER_S: u64 = 5;
/// The status of the answer to a change.
const OK: u16 = 200;

/// The answer to a change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Changed<T> {
    /// The change was made now, or had no effect.
    First(T),
    /// The same request was answered earlier with the same key. This is its stored answer.
    Replay(StoredAnswer),
}

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

/// A key in use, and its request.
struct PendingKey {
    request: KeyedRequest,
    _claim: KeyClaim,
}

/// Cancels a message: the recipients that no carrier has end and are refunded.
pub async fn cancel(
    admission: &Admission,
    message_id: &str,
    key: Option<IdempotencyKey>,
    write: impl Fn(&Cancelled) -> String,
) -> Result<Changed<Cancelled>, Error> {
    let message = message_key(admission, message_id)?;
    let meaning = idempotency::of_change(Operation::Cancel, &message.message.to_string(), None);
    let pending = match begin(admission, key, meaning).await? {
        Ok(pending) => pending,
        Err(answer) => return Ok(Changed::Replay(answer)),
    };
    let context = Arc::clone(admission.context());
    let cancelled = finished(cancel_message(context, message)).await?;
    answer(admission, message.message, pending, cancelled, write).await
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

/// Looks the key of a request up. Returns the stored answer of the same request.
async fn begin(
    admission: &Admission,
    key: Option<IdempotencyKey>,
    request: RequestFingerprint,
) -> Result<Result<Option<PendingKey>, StoredAnswer>, Error> {
    let Some(key) = key else {
        return Ok(Ok(None));
    };
    Ok(match admission.begin(key, request).await? {
        Begun::New(request, claim) => Ok(Some(PendingKey {
            request,
            _claim: claim,
        })),
        Begun::Replay(answer) => Err(answer),
    })
}

/// Stores the answer of a request with a key. A repeated change has no effect, so the answer may be
/// stored after it.
async fn answer<T>(
    admission: &Admission,
    message: MessageId,
    pending: Option<PendingKey>,
    changed: T,
    write: impl Fn(&T) -> String,
) -> Result<Changed<T>, Error> {
    let Some(pending) = pending else {
        return Ok(Changed::First(changed));
    };
    let context = admission.context();
    let answer = StoredAnswer {
        status: OK,
        body: write(&changed),
        message: Some(message),
    };
    let messages = context.store.messages();
    let kept = messages.keep_answer(
        admission.customer().account.id,
        admission.environment(),
        pending.request.clone(),
        answer,
        context.clock.now_ms(),
    );
    match within(async { Ok(kept.await?) }).await? {
        Outcome::Made(()) => Ok(Changed::First(changed)),
        Outcome::Replay(answer) => Ok(Changed::Replay(answer)),
        Outcome::Refused(refusal) => Err(refusal.into()),
    }
}
