//! `POST /otp` and the operations on a one-time password (docs/spec/interface.md, section 13).

use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Call;
use crate::http::extract::call::otp::{ResendingOtp, SendingOtp, UsingOtp};
use crate::http::respond::envelope::{CURRENCY, Envelope, sandbox_mark};
use axum::response::Response;
use domain::Environment;
use domain::idempotency::{IdempotencyKey, Operation};
use domain::otp::Verified;
use engine::otp::{self, OtpReady, OtpReport, Resend};
use engine::{Answered, Error, Keyed, Sent, WriteBody};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Sends a new code.
pub(crate) async fn create(sending: SendingOtp) -> Response {
    let SendingOtp {
        call,
        fields,
        own,
        key,
        permit: _until_answered,
    } = sending;
    match otp::create(&call.admission, fields, &own) {
        Ok(ready) => send(&call, ready, key, Operation::CreateOtp).await,
        Err(error) => call.refuse(error),
    }
}

/// Sends the same code again.
pub(crate) async fn resend(resending: ResendingOtp) -> Response {
    let ResendingOtp {
        call,
        id,
        ignored,
        key,
        permit: _until_answered,
    } = resending;
    match otp::resend(&call.admission, &id, ignored, key.as_ref()).await {
        Ok(Resend::Ready(ready)) => send(&call, *ready, key, Operation::ResendOtp).await,
        Ok(Resend::Replay(kept)) => call.replay(kept),
        Err(error) => call.refuse(error),
    }
}

async fn send(
    call: &Call,
    ready: OtpReady,
    key: Option<IdempotencyKey>,
    operation: Operation,
) -> Response {
    let (environment, codes) = (call.environment(), call.codes().clone());
    let (id, expires_at_ms) = (ready.id.to_string(), ready.expires_at_ms);
    let code = ready.code.as_ref().map(|code| code.as_str().to_owned());
    let answer = move |sent: &Sent, code| {
        OtpData::answer(sent, id.clone(), expires_at_ms, environment, code)
    };
    let answer = Arc::new(answer);
    let kept = Arc::clone(&answer);
    // The code is shown once, so the stored answer does not contain it.
    let write: WriteBody = Arc::new(move |sent| codes.written(kept(&sent, None)));
    let keyed = key.map(|key| Keyed {
        key,
        operation,
        write,
    });
    match ready.send(&call.admission, keyed).await {
        Ok(Answered::First(sent)) => call.answer(Ok::<_, Error>(answer(&sent, code))),
        Ok(Answered::Replay(kept)) => call.replay(kept),
        Err(error) => call.refuse(error),
    }
}

/// Verifies a code.
pub(crate) async fn verify(using: UsingOtp) -> Response {
    let UsingOtp {
        call,
        id,
        code,
        key,
    } = using;
    let keyed = call.keyed(key, VerifiedData::answer);
    let verified = otp::verify(&call.admission, &id, code.as_deref(), keyed).await;
    call.changed(verified, VerifiedData::answer)
}

/// Cancels a one-time password.
pub(crate) async fn cancel(using: UsingOtp) -> Response {
    let UsingOtp { call, id, key, .. } = using;
    let keyed = call.keyed(key, OtpStateData::answer);
    let cancelled = otp::cancel(&call.admission, &id, keyed).await;
    call.changed(cancelled, OtpStateData::answer)
}

/// Reads the state of a one-time password.
pub(crate) async fn read(using: UsingOtp) -> Response {
    let found = otp::read(&using.call.admission, &using.id).await;
    let found = found.map(|report| OtpStateData::answer(&report));
    using.call.answer(found)
}

/// A code that was sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct OtpData {
    /// Verifies the code; a UUID.
    otp_id: String,
    /// Fetches the delivery report of the message; a UUID.
    message_id: String,
    /// The charge.
    cost: Naira,
    /// Always `NGN`.
    #[schema(example = "NGN")]
    currency: &'static str,
    /// The time from which the code is refused.
    expires_at: LagosTime,
    /// True if the text that is sent differs from `body`.
    text_changed: bool,
    /// Characters of `body` that were removed.
    removed_characters: usize,
    /// Fields that were given and that nothing reads, the first twenty. Absent when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    ignored_fields: Vec<String>,
    /// The code. Only the sandbox shows it, and only in the first answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "482913")]
    code: Option<serde_json::Value>,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl OtpData {
    pub(crate) fn answer(
        sent: &Sent,
        otp_id: String,
        expires_at_ms: i64,
        environment: Environment,
        code: Option<String>,
    ) -> Envelope<Self> {
        let data = Self {
            otp_id,
            message_id: sent.message_id.to_string(),
            cost: Naira(sent.cost),
            currency: CURRENCY,
            expires_at: LagosTime {
                at_ms: expires_at_ms,
            },
            text_changed: sent.adjustments.text_changed,
            removed_characters: sent.adjustments.removed_characters,
            ignored_fields: sent.adjustments.ignored_fields.clone(),
            code: (environment == Environment::Sandbox).then(|| code.into()),
            sandbox: sandbox_mark(environment),
        };
        Envelope::new("One-time password sent.", data)
    }
}

/// The answer to a code that was given.
#[derive(Serialize, ToSchema)]
pub(crate) struct VerifiedData {
    /// True if the code is right, in time, and was not verified before.
    verified: bool,
    /// Null, or `wrong`, `expired`, `too_many_attempts`, `already_verified` or `cancelled`.
    #[schema(example = "wrong")]
    reason: Option<&'static str>,
    /// Wrong codes that may still be given.
    #[schema(example = 2)]
    attempts_left: u32,
}

impl VerifiedData {
    pub(crate) fn answer(verified: &Verified) -> Envelope<Self> {
        let data = Self {
            verified: verified.reason.is_none(),
            reason: verified.reason.map(domain::otp::Reason::as_str),
            attempts_left: verified.attempts_left,
        };
        Envelope::new("Code checked.", data)
    }
}

/// A one-time password.
#[derive(Serialize, ToSchema)]
pub(crate) struct OtpStateData {
    /// Its id; a UUID.
    otp_id: String,
    /// The last message with its code; a UUID.
    message_id: String,
    /// The phone number.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// `pending`, `verified`, `expired`, `failed` or `cancelled`.
    #[schema(example = "pending")]
    state: &'static str,
    /// Wrong codes that may still be given.
    #[schema(example = 3)]
    attempts_left: u32,
    /// Times that it was sent again.
    resends: u32,
    /// The time from which the code is refused.
    expires_at: LagosTime,
}

impl OtpStateData {
    pub(crate) fn answer(report: &OtpReport) -> Envelope<Self> {
        let otp = &report.otp;
        let data = Self {
            otp_id: otp.id.to_string(),
            message_id: otp.message.to_string(),
            recipient: otp.recipient.to_string(),
            state: report.state.as_str(),
            attempts_left: otp.verification.attempts_left(),
            resends: otp.resends.count,
            expires_at: LagosTime {
                at_ms: otp.verification.expires_at_ms,
            },
        };
        Envelope::new("One-time password retrieved.", data)
    }
}
