//! Changes of an accepted message by its customer.

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::changes::{Effect, MessageChange};
use crate::context::Context;
use crate::context::live::Live;
use crate::error::{Error, within};
use crate::queries::Message;
use domain::Refusal;
use domain::idempotency::{self, Operation};
use std::sync::Arc;
use std::time::Duration;
use store::MessageKey;

pub use crate::changes::{Cancelled, MessageRequest};

/// Longest wait of a request for its change.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds after which a change that is under way may be repeated.
const RETRY_AFTER_S: u64 = 5;

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
    let cancelled = finished(async move {
        let (live, apply) = (context.live.load_full(), effects_on(&context));
        let change = change_of(&context, &live, message, &apply);
        change.cancel().await
    });
    answer(admission, &claimed, cancelled.await?).await
}

/// Pauses, resumes or reschedules a message. Returns the message after it.
pub async fn change(
    admission: &Admission,
    message_id: &str,
    request: MessageRequest,
    keyed: Option<KeyedAnswer<Message>>,
) -> Result<Changed<Message>, Error> {
    let (operation, send_at_ms) = match request {
        MessageRequest::Pause => (Operation::Pause, None),
        MessageRequest::Resume => (Operation::Resume, None),
        MessageRequest::Reschedule { send_at_ms } => (Operation::Reschedule, Some(send_at_ms)),
    };
    let message = message_key(admission, message_id)?;
    let id = message.message.to_string();
    let meaning = idempotency::of_change(operation, &id, send_at_ms);
    let shown = |message: &Message| (message.clone(), Some(message.id));
    let claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let context = Arc::clone(admission.context());
    let made = finished(async move {
        let (live, apply) = (context.live.load_full(), effects_on(&context));
        let change = change_of(&context, &live, message, &apply);
        change.make(request).await
    });
    made.await?;
    let after = admission.queries().message(&id).await?;
    answer(admission, &claimed, after).await
}

/// Returns the function that applies the effects of a change on this node.
fn effects_on(context: &Arc<Context>) -> impl Fn(Effect) + Send + Sync + use<> {
    let context = Arc::clone(context);
    move |effect| match effect {
        Effect::Stops => context.stops_changed(),
        Effect::Settled(settled) => context.settled(settled),
        Effect::Released => {
            let live = context.live();
            live.carriers.iter().for_each(|one| context.arrived(one));
        }
    }
}

fn change_of<'a>(
    context: &'a Context,
    live: &'a Live,
    key: MessageKey,
    apply: &'a (dyn Fn(Effect) + Send + Sync),
) -> MessageChange<'a> {
    MessageChange {
        store: &context.store,
        rules: &live.plan.rules,
        clock: &context.clock,
        key,
        by: None,
        apply,
    }
}

/// Returns the result of a change that goes on when its client has hung up.
async fn finished<T: Send + 'static>(
    change: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let task = tokio::spawn(change);
    match tokio::time::timeout(CHANGE_TIMEOUT, task).await {
        Ok(Ok(result)) => result,
        // The node completes the change later.
        Ok(Err(_)) | Err(_) => Err(Refusal::ChangeUnderWay {
            retry_after_s: RETRY_AFTER_S,
        }
        .into()),
    }
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
async fn answer<T: 'static>(
    admission: &Admission,
    claimed: &Claimed<T>,
    change: T,
) -> Result<Changed<T>, Error> {
    let Some(keyed) = &claimed.keyed else {
        return Ok(Changed::First(change));
    };
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
