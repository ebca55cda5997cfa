//! The answers to the commands of subscribers, as sends of their accounts.
//!
//! An answer waits in the database from the commit that keeps its inbound message. Its send has an
//! idempotency key that derives from that message, so a crash neither loses nor repeats it.

use super::admission::Admission;
use super::request::SendRequest;
use super::stages::Stages;
use crate::accept::{Answered, Keyed};
use crate::error::{Error, within};
use database::Outage;
use domain::idempotency::{IdempotencyKey, Operation};
use domain::rate::Rate;
use domain::{Bucket, Environment, Gateway, Refusal, SendFields};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::WaitingAnswer;

/// Period of the search for answers that failed, or that another node left.
const ANSWER_INTERVAL: Duration = Duration::from_secs(2);
/// Number of answers that are read at a time.
const ANSWER_BATCH_SIZE: u32 = 100;
/// Number of answers that fail one after the other before the next search.
const MAX_FAILURES: u32 = 20;
/// Age at which an answer is given up: nobody expects it any more.
const MAX_AGE_MS: i64 = 6 * 3_600_000;
/// Time by which the clocks of nodes may differ.
const CLOCK_MARGIN_MS: i64 = 60_000;
/// The id of a token in the sends of the service itself.
const SERVICE: &str = "inbound";

/// The outcome of a try to send an answer.
enum Tried {
    /// The answer was sent.
    Sent,
    /// The send is refused, and would be again.
    Refused(Refusal),
    /// A later try may succeed.
    Failed(Error),
}

/// Sends answers until the engine ends.
pub(super) async fn run(stages: Arc<Stages>) {
    let outage = Outage::of("answers to inbound messages cannot be sent");
    let context = Arc::clone(&stages.context);
    loop {
        let is_hinted = tokio::select! {
            () = context.answers.notified() => true,
            () = tokio::time::sleep(ANSWER_INTERVAL) => false,
        };
        // Each node answers the messages that it kept. One node sends the answers that are left.
        if stages.is_open.load(Ordering::Relaxed) && (is_hinted || context.nodes.is_mine(Bucket(0)))
        {
            outage.note(answer_all(&stages).await);
        }
    }
}

/// Sends the answers that wait. One that fails does not delay the others. If many in a row fail, the
/// database is down.
async fn answer_all(stages: &Arc<Stages>) -> Result<(), Error> {
    let answers = stages.context.store.inbound_answers();
    let (mut behind, mut failed, mut in_a_row) = (None, None, 0);
    loop {
        let waiting = answers.waiting(behind, ANSWER_BATCH_SIZE).await?;
        let is_last = waiting.len() < ANSWER_BATCH_SIZE as usize;
        behind = waiting.last().map(|last| last.inbound);
        for answer in &waiting {
            match end(stages, answer).await {
                Ok(()) => in_a_row = 0,
                Err(error) => {
                    in_a_row += 1;
                    if in_a_row >= MAX_FAILURES {
                        return Err(error);
                    }
                    failed.get_or_insert(error);
                }
            }
        }
        if is_last {
            return failed.map_or(Ok(()), Err);
        }
    }
}

/// Sends an answer, and removes it unless a later try may succeed.
async fn end(stages: &Arc<Stages>, answer: &WaitingAnswer) -> Result<(), Error> {
    if handle(stages, answer).await? {
        let answers = stages.context.store.inbound_answers();
        answers.remove(answer.inbound).await?;
    }
    Ok(())
}

/// Returns `true` if an answer waits no longer.
async fn handle(stages: &Arc<Stages>, answer: &WaitingAnswer) -> Result<bool, Error> {
    let (inbound_id, account) = (answer.inbound, answer.account.0);
    let context = &stages.context;
    // An older answer would be sent again if its key were forgotten.
    let window_ms = context.live().limits.idempotency_window_ms - CLOCK_MARGIN_MS;
    if context.clock.now_ms() - answer.kept_at_ms > MAX_AGE_MS.min(window_ms) {
        tracing::warn!(%inbound_id, account, "answer to an inbound message: given up, too late");
        return Ok(true);
    }
    match send(stages, answer).await {
        Tried::Sent => Ok(true),
        Tried::Refused(refusal) => {
            tracing::warn!(
                %inbound_id, account, reason = %refusal,
                "answer to an inbound message: refused, nothing was sent or charged"
            );
            Ok(true)
        }
        Tried::Failed(Error::Refused(_)) => Ok(false),
        Tried::Failed(error) => Err(error),
    }
}

async fn send(stages: &Arc<Stages>, answer: &WaitingAnswer) -> Tried {
    match try_send(stages, answer).await {
        Ok(_) => Tried::Sent,
        Err(Error::Refused(refusal)) if !is_temporary(&refusal) => Tried::Refused(refusal),
        Err(error) => Tried::Failed(error),
    }
}

/// Sends an answer, outside of the rate limit of the API.
async fn try_send(stages: &Arc<Stages>, answer: &WaitingAnswer) -> Result<Answered, Error> {
    let found = within(stages.callers.member(answer.account, SERVICE)).await?;
    let caller = Arc::new(found.ok_or(Refusal::AccountDisabled)?);
    caller.customer.check_send(Environment::Live)?;
    let rate = Rate {
        limit: 0,
        remaining: 0,
        refused: None,
    };
    let admission = Admission::new(Arc::clone(stages), (caller, rate), Environment::Live);
    let fields = SendFields {
        from: Some(answer.number.clone()),
        to: Some(answer.recipient.to_string()),
        body: Some(answer.body.clone()),
        gateway: Some(Gateway::DirectCorporate.as_str().to_owned()),
        ..SendFields::default()
    };
    let keyed = Keyed {
        key: IdempotencyKey::of_answer(answer.inbound),
        operation: Operation::Answer,
        write: Arc::new(|_| r#"{"status":"success"}"#.to_owned()),
    };
    admission
        .send(SendRequest::Answer(fields), Some(keyed))
        .await
}

/// Returns `true` if the same send may be accepted later.
fn is_temporary(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Unavailable { .. } | Refusal::OutcomeUnknown { .. } | Refusal::KeyInUse { .. }
    )
}
