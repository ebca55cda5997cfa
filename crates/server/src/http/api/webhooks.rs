//! The callbacks of the account: secrets, dead callbacks, replay and attempts
//! (docs/spec/webhooks.md).

use super::list::List;
use crate::format::LagosTime;
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::{Adding, Removing};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::callback::request::{ReplayFields, SecretFields};
use engine::operators::CallbackSecret;
use engine::{DeadCallback, ListPage, MadeAttempt, webhooks};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the secrets that sign callbacks now.
pub(crate) async fn secrets(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.callback_secrets(fields.page()).await?;
        Ok::<_, Failure>(secrets_answer(found, environment))
    };
    call.answer(found.await)
}

/// Makes a secret.
pub(crate) async fn make_secret(adding: Adding<SecretFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    // A stored answer does not have the text of the secret.
    let keyed = call.keyed(key, |secret: &CallbackSecret| made_answer(secret, false));
    let made = webhooks::make_secret(&call.admission, &fields, keyed).await;
    call.changed(made, |secret| made_answer(secret, true))
}

/// Revokes a secret of the account.
pub(crate) async fn revoke_secret(removing: Removing) -> Response {
    let Removing { call, id, key } = removing;
    let answer = |id: &String| revoked_answer(id);
    let keyed = call.keyed(key, answer);
    let revoked = webhooks::revoke_secret(&call.admission, &id, keyed).await;
    call.changed(revoked, answer)
}

/// Lists the dead callbacks of the account.
pub(crate) async fn dead(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.dead_callbacks(fields.page()).await?;
        Ok::<_, Failure>(dead_answer(found, environment))
    };
    call.answer(found.await)
}

/// Replays dead callbacks of the account.
pub(crate) async fn replay(adding: Adding<ReplayFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let answer = |replayed: &u64| replayed_answer(*replayed);
    let keyed = call.keyed(key, answer);
    let replayed = webhooks::replay(&call.admission, &fields, keyed).await;
    call.changed(replayed, answer)
}

/// Lists the recorded attempts at the callbacks of the account.
pub(crate) async fn attempts(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.callback_attempts(&fields.filter, fields.page());
        Ok::<_, Failure>(attempts_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Returns the envelope of a page of secrets.
pub(crate) fn secrets_answer(
    found: ListPage<CallbackSecret>,
    environment: Environment,
) -> Envelope<List<SecretItem>> {
    let item = |secret| SecretItem::new(&secret, false);
    Envelope::new("Secrets retrieved.", List::new(found, environment, item))
}

/// Returns the envelope of a secret that was made.
pub(crate) fn made_answer(secret: &CallbackSecret, shows_text: bool) -> Envelope<SecretItem> {
    Envelope::new(
        "Secret made. It is shown only here.",
        SecretItem::new(secret, shows_text),
    )
}

/// Returns the envelope of a secret that was revoked.
pub(crate) fn revoked_answer(id: &str) -> Envelope<RevokedSecret> {
    let secret_id = id.to_owned();
    Envelope::new("Secret revoked.", RevokedSecret { secret_id })
}

/// Returns the envelope of a page of dead callbacks.
pub(crate) fn dead_answer(
    found: ListPage<DeadCallback>,
    environment: Environment,
) -> Envelope<List<DeadItem>> {
    let list = List::new(found, environment, DeadItem::new);
    Envelope::new("Dead callbacks retrieved.", list)
}

/// Returns the envelope of a replay.
pub(crate) fn replayed_answer(replayed: u64) -> Envelope<Replayed> {
    Envelope::new("Dead callbacks replayed.", Replayed { replayed })
}

/// Returns the envelope of a page of attempts.
pub(crate) fn attempts_answer(
    found: ListPage<MadeAttempt>,
    environment: Environment,
) -> Envelope<List<AttemptItem>> {
    let list = List::new(found, environment, AttemptItem::new);
    Envelope::new("Attempts retrieved.", list)
}

/// A secret that signs the callbacks of the account.
#[derive(Serialize, ToSchema)]
pub(crate) struct SecretItem {
    /// The id of the secret: the start of its SHA-256.
    secret_id: String,
    /// The secret itself in the first answer to the request that made it, null anywhere else.
    #[schema(required = true)]
    secret: Option<String>,
    /// The time at which it was made.
    created_at: LagosTime,
    /// The time from which it signs no more, or null.
    #[schema(required = true)]
    ends_at: Option<LagosTime>,
}

impl SecretItem {
    fn new(secret: &CallbackSecret, shows_text: bool) -> Self {
        let time = |at_ms| LagosTime { at_ms };
        let signing = &secret.signing;
        Self {
            secret_id: signing.secret.id(),
            secret: shows_text.then(|| signing.secret.text()),
            created_at: time(secret.created_at_ms),
            ends_at: signing.ends_at_ms.map(time),
        }
    }
}

/// A secret that was revoked.
#[derive(Serialize, ToSchema)]
pub(crate) struct RevokedSecret {
    /// The id of the secret.
    secret_id: String,
}

/// A callback that was given up.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeadItem {
    /// The message, the `inbound_id` of an inbound message, or the id of the callback of an alert.
    message_id: String,
    /// The recipient, the number that an inbound message was sent to, or 0 for an alert.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// The kind: `delivery_status`, `inbound`, `low_balance`, or `receipt` for an SMPP user.
    event: &'static str,
    /// The status that it reports, or null for an inbound message and an alert.
    #[schema(required = true)]
    delivery_status: Option<&'static str>,
    /// `live` or `sandbox`.
    environment: &'static str,
    /// The number of attempts.
    attempts: i64,
    /// The time at which the next attempt was due.
    due_at: LagosTime,
    /// Scheme, host and port of the URL, or `smpp:` and the SMPP user.
    #[schema(example = "https://shop.example.ng:443")]
    origin: String,
    /// The URL, or null for an SMPP user.
    #[schema(required = true)]
    callback_url: Option<String>,
}

impl DeadItem {
    fn new(dead: DeadCallback) -> Self {
        Self {
            message_id: dead.message.to_string(),
            recipient: dead.recipient.to_string(),
            event: dead.event.kind().as_str(),
            delivery_status: dead.event.status(),
            environment: dead.environment.as_str(),
            attempts: dead.attempts,
            due_at: LagosTime {
                at_ms: dead.due_at_ms,
            },
            origin: dead.origin,
            callback_url: Some(dead.url.to_string()).filter(|url| !url.is_empty()),
        }
    }
}

/// The result of a replay.
#[derive(Serialize, ToSchema)]
pub(crate) struct Replayed {
    /// The number of callbacks that are sent again.
    replayed: u64,
}

/// An attempt at a callback that failed, or one that succeeded after it.
#[derive(Serialize, ToSchema)]
pub(crate) struct AttemptItem {
    /// The message, or the `inbound_id` of an inbound message.
    message_id: String,
    /// The recipient, or the number that an inbound message was sent to.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// Its number, from 1. A replayed callback begins anew.
    attempt: i64,
    /// Its time.
    made_at: LagosTime,
    /// The HTTP status, or why there was none: `bad_url`, `unresolved`, `forbidden`, `unreachable`, `tls`, `timed_out`,
    /// `broken`.
    #[schema(example = "503")]
    result: String,
    /// Its duration in milliseconds.
    took_ms: i64,
    /// The begin of the answer.
    answer: String,
}

impl AttemptItem {
    fn new(made: MadeAttempt) -> Self {
        let attempted = made.attempted;
        Self {
            message_id: made.message.to_string(),
            recipient: made.recipient.to_string(),
            attempt: made.attempt,
            made_at: LagosTime {
                at_ms: attempted.made_at_ms,
            },
            result: attempted.result,
            took_ms: attempted.took_ms,
            answer: attempted.answer,
        }
    }
}
