//! The changes of customers to their callbacks: secrets, and replays (docs/spec/webhooks.md).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::callback::request::{ReplayFields, ReplayRequest, SecretFields, SecretRequest};
use domain::callback::signature::{RANDOM_BYTES, Secret, Signing};
use domain::idempotency::{self, Operation};
use domain::search::MAX_LIMIT;
use domain::{MessageId, Refusal};
use store::CallbackSecret;

/// Makes a secret that signs the callbacks of the account from now on.
pub async fn make_secret(
    admission: &Admission,
    fields: &SecretFields,
    keyed: Option<KeyedAnswer<CallbackSecret>>,
) -> Result<Changed<CallbackSecret>, Error> {
    let context = admission.context();
    let request = SecretRequest::read(fields)?;
    let meaning = idempotency::of_secret(&request);
    let shown = |secret: &CallbackSecret| (secret.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let by = admission.author();
    let random = context.random.bytes();
    if random == [0; RANDOM_BYTES] {
        return Err(Refusal::Unavailable { retry_after_s: 1 }.into());
    }
    let secret = CallbackSecret {
        account: admission.customer().account.id,
        created_at_ms: by.at_ms,
        signing: Signing {
            secret: Secret::make(&random),
            ends_at_ms: None,
        },
    };
    let others_end_at_ms = by.at_ms + request.overlap_s * 1_000;
    let secrets = context.store.callback_secrets();
    let requested = secrets.request(secret, others_end_at_ms, claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    changed(outcome, |secret| secret)
}

/// Revokes a secret of the account. Returns its id.
pub async fn revoke_secret(
    admission: &Admission,
    id: &str,
    keyed: Option<KeyedAnswer<String>>,
) -> Result<Changed<String>, Error> {
    let meaning = idempotency::of_change(Operation::RevokeSecret, id, None);
    let shown = |id: &String| (id.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let secrets = admission.context().store.callback_secrets();
    let account = admission.customer().account.id;
    let given_up = secrets.give_up(account, id, claimed.keyed.take(), admission.author());
    let outcome = within(async { Ok(given_up.await?) }).await?;
    changed(outcome, |id| id)
}

/// Queues dead callbacks of the account again, with a new series of attempts. Returns their number.
pub async fn replay(
    admission: &Admission,
    fields: &ReplayFields,
    keyed: Option<KeyedAnswer<u64>>,
) -> Result<Changed<u64>, Error> {
    let request = ReplayRequest::read(fields)?;
    let meaning = idempotency::of_replay(&request);
    let shown = |replayed: &u64| (*replayed, None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let account = admission.customer().account.id;
    let dead = admission.context().store.dead_callbacks();
    if let Some(message) = request.message {
        let known = dead.knows(account, message);
        if !within(async { Ok(known.await?) }).await? {
            return Err(Refusal::UnknownMessage.into());
        }
    }
    let replayed = replay_all(admission, request.message).await?;
    let now_ms = admission.author().at_ms;
    let kept = dead.keep_replay(account, replayed, claimed.keyed.take(), now_ms);
    let outcome = within(async { Ok(kept.await?) }).await?;
    changed(outcome, |replayed| replayed)
}

/// Replays the callbacks to each origin. After an error, those replayed so far stay so.
async fn replay_all(admission: &Admission, message: Option<MessageId>) -> Result<u64, Error> {
    let account = admission.customer().account.id;
    let dead = admission.context().store.dead_callbacks();
    let (mut replayed, mut behind) = (0, None);
    loop {
        let page = dead.origins_of(account, behind.as_ref(), MAX_LIMIT);
        let page = within(async { Ok(page.await?) }).await?;
        for origin in &page {
            replayed += dead.replay(origin, message, admission.author()).await?;
        }
        match page.into_iter().next_back() {
            Some(last) => behind = Some(last),
            None => return Ok(replayed),
        }
    }
}
