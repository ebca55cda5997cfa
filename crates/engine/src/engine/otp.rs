//! One-time passwords: a code is sent, verified, sent again or cancelled.
//!
//! The code is derived from a key of the server when its message is submitted, and when a code is
//! verified. Nothing keeps it.

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use super::request::{OtpSend, SendRequest};
use crate::accept::keyed::Begun;
use crate::accept::{Answered, Keyed};
use crate::context::Context;
use crate::error::{Error, within};
use domain::idempotency::{self, IdempotencyKey, Operation, RequestFingerprint};
use domain::otp::{
    Code, GivenCode, NewOtp, OtpFields, OtpId, OtpMessage, OtpRequest, OtpState, OtpText, Verified,
    hash_of_typed,
};
use domain::{Alphabet, Environment, Refusal, SendFields, Text};
pub use store::Otp;
use store::{OtpChange, OtpMoment, StoredAnswer};

/// A one-time password that is ready to be sent.
pub struct OtpReady {
    /// The one-time password.
    pub id: OtpId,
    /// The moment from which its code is not good, Unix milliseconds.
    pub expires_at_ms: i64,
    /// The code. The sandbox alone shows it.
    pub code: Option<Code>,
    request: SendRequest,
}

impl OtpReady {
    /// Sends it.
    pub async fn send(
        self,
        admission: &Admission,
        keyed: Option<Keyed>,
    ) -> Result<Answered, Error> {
        admission.send(self.request, keyed).await
    }
}

/// A one-time password at a moment.
#[derive(Clone, Debug)]
pub struct OtpReport {
    /// The one-time password.
    pub otp: Otp,
    /// Its state.
    pub state: OtpState,
}

/// The request to send a code again.
pub enum Resend {
    /// The code is ready to be sent again.
    Ready(Box<OtpReady>),
    /// The same request was handled under its key before, with this answer.
    Replay(StoredAnswer),
}

/// Makes a one-time password.
pub fn create(
    admission: &Admission,
    fields: SendFields,
    own: &OtpFields,
) -> Result<OtpReady, Error> {
    let request = OtpRequest::read(own)?;
    let meaning = idempotency::of_otp(&fields, &request, admission.environment());
    let context = admission.context();
    let now_ms = context.clock.now_ms();
    let text = OtpText {
        id: OtpId::new(now_ms, context.random.bytes()),
        kind: request.kind,
        length: request.length,
    };
    let first = NewOtp {
        max_attempts: request.max_attempts,
    };
    let expires_at_ms = now_ms + i64::from(request.expires_in_s) * 1_000;
    let fields = SendFields {
        body: Some(request.body),
        ..fields
    };
    let message = message(admission, text, Some(first), expires_at_ms);
    Ok(ready(admission, fields, message, meaning))
}

/// Prepares the code of a one-time password to be sent again. The key is looked up first, since a
/// one-time password may be removed before the answer to its resend.
pub async fn resend(
    admission: &Admission,
    otp_id: &str,
    ignored: Vec<String>,
    key: Option<&IdempotencyKey>,
) -> Result<Resend, Error> {
    let id: OtpId = otp_id.parse().map_err(|_| Refusal::UnknownMessage)?;
    let meaning = idempotency::of_change(Operation::ResendOtp, &id.to_string(), None);
    if let Some(key) = key
        && let Begun::Replay(answer) = admission.begin(key.clone(), meaning).await?
    {
        return Ok(Resend::Replay(answer));
    }
    let otp = find(admission, id).await?;
    let text = OtpText {
        id: otp.id,
        kind: otp.kind,
        length: otp.length,
    };
    // A text with characters beyond GSM was sent as Unicode, and is sent so again.
    let unicode = Text::from_stored(otp.body.clone()).alphabet() == Alphabet::Ucs2;
    let fields = SendFields {
        unicode: Some(unicode.to_string()),
        from: Some(otp.sender),
        to: Some(otp.recipient.to_string()),
        body: Some(otp.body),
        callback_url: otp.callback_url,
        customer_reference: otp.customer_reference,
        ignored,
        ..SendFields::default()
    };
    let message = message(admission, text, None, otp.verification.expires_at_ms);
    let ready = ready(admission, fields, message, Some(meaning));
    Ok(Resend::Ready(Box::new(ready)))
}

fn message(
    admission: &Admission,
    text: OtpText,
    first: Option<NewOtp>,
    expires_at_ms: i64,
) -> OtpMessage {
    OtpMessage {
        text,
        first,
        expires_at_ms,
        fingerprint: admission.context().random.bytes(),
        number_limit: admission.context().live().limits.otp_per_number,
    }
}

fn ready(
    admission: &Admission,
    fields: SendFields,
    message: OtpMessage,
    meaning: Option<RequestFingerprint>,
) -> OtpReady {
    let context = admission.context();
    let shows_code = admission.environment() == Environment::Sandbox;
    OtpReady {
        id: message.text.id,
        expires_at_ms: message.expires_at_ms,
        code: shows_code.then(|| message.text.code(&context.otp_key)),
        request: SendRequest::Otp(OtpSend {
            fields,
            message,
            meaning,
        }),
    }
}

async fn find(admission: &Admission, id: OtpId) -> Result<Otp, Error> {
    let account = admission.customer().account.id;
    let otps = admission.context().store.otps();
    let found = otps.get(account, admission.environment(), id);
    let found = within(async { Ok(found.await?) }).await?;
    found.ok_or_else(|| Refusal::UnknownMessage.into())
}

/// Verifies a code. A malformed code is no attempt.
pub async fn verify(
    admission: &Admission,
    otp_id: &str,
    code: Option<&str>,
    keyed: Option<KeyedAnswer<Verified>>,
) -> Result<Changed<Verified>, Error> {
    let id: OtpId = otp_id.parse().map_err(|_| Refusal::UnknownMessage)?;
    let context = admission.context();
    let typed = hash_of_typed(&context.otp_key, id, code.unwrap_or_default());
    let meaning = idempotency::of_verification(&id.to_string(), typed);
    let shown = |change: &OtpChange<Verified>| (change.result, Some(change.otp.message));
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let otp = find(admission, id).await?;
    let given = GivenCode::read(code, otp.length)?;
    let expected = Code::derive(&context.otp_key, otp.id, otp.kind, otp.length);
    let outcome = context.store.otps().verify(
        admission.customer().account.id,
        admission.environment(),
        otp.id,
        (expected, given),
        moment(context),
        claimed.keyed.take(),
    );
    let outcome = within(async { Ok(outcome.await?) }).await?;
    changed(outcome.ok_or(Refusal::UnknownMessage)?, |change| {
        change.result
    })
}

/// Cancels a one-time password.
pub async fn cancel(
    admission: &Admission,
    otp_id: &str,
    keyed: Option<KeyedAnswer<OtpReport>>,
) -> Result<Changed<OtpReport>, Error> {
    let id: OtpId = otp_id.parse().map_err(|_| Refusal::UnknownMessage)?;
    let context = admission.context();
    let moment = moment(context);
    let shown = move |change: &OtpChange<()>| {
        let shown = report(change.otp.clone(), moment.now_ms);
        (shown, Some(change.otp.message))
    };
    let meaning = idempotency::of_change(Operation::CancelOtp, &id.to_string(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let account = admission.customer().account.id;
    let otps = context.store.otps();
    let keyed = claimed.keyed.take();
    let outcome = otps.cancel(account, admission.environment(), id, moment, keyed);
    let outcome = within(async { Ok(outcome.await?) }).await?;
    changed(outcome.ok_or(Refusal::UnknownMessage)?, |change| {
        report(change.otp, moment.now_ms)
    })
}

fn moment(context: &Context) -> OtpMoment {
    OtpMoment {
        now_ms: context.clock.now_ms(),
        number: context.live().plan.numbers(1),
    }
}

/// Returns a one-time password.
pub async fn read(admission: &Admission, otp_id: &str) -> Result<OtpReport, Error> {
    let id: OtpId = otp_id.parse().map_err(|_| Refusal::UnknownMessage)?;
    let otp = find(admission, id).await?;
    Ok(report(otp, admission.context().clock.now_ms()))
}

fn report(otp: Otp, now_ms: i64) -> OtpReport {
    OtpReport {
        state: otp.verification.state(now_ms),
        otp,
    }
}
