//! One-time passwords: a code is sent, verified, sent again or cancelled.
//!
//! The code is derived from a key of the server when its message is submitted, and when a code is
//! verified. Nothing keeps it.

use super::admission::Admission;
use super::request::{OtpSend, SendRequest};
use crate::accept::{Answered, Keyed};
use crate::error::{Error, within};
use domain::idempotency::{self, Operation, RequestFingerprint};
use domain::otp::{
    Code, GivenCode, NewOtp, OtpFields, OtpId, OtpMessage, OtpRequest, OtpState, OtpText, Verified,
};
use domain::{Alphabet, Environment, Refusal, SendFields, Text};
pub use store::Otp;

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
    // A code is always sent at once.
    let fields = SendFields {
        body: Some(request.body),
        send_at: None,
        validity: None,
        ..fields
    };
    let message = message(admission, text, Some(first), expires_at_ms);
    Ok(ready(admission, fields, message, meaning))
}

/// Sends the code of a one-time password again.
pub async fn resend(admission: &Admission, otp_id: &str) -> Result<OtpReady, Error> {
    let otp = find(admission, otp_id).await?;
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
        ..SendFields::default()
    };
    let meaning = idempotency::of_change(Operation::ResendOtp, &otp.id.to_string(), None);
    let message = message(admission, text, None, otp.verification.expires_at_ms);
    Ok(ready(admission, fields, message, Some(meaning)))
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

async fn find(admission: &Admission, otp_id: &str) -> Result<Otp, Error> {
    let id: OtpId = otp_id.parse().map_err(|_| Refusal::UnknownMessage)?;
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
) -> Result<Verified, Error> {
    let otp = find(admission, otp_id).await?;
    let given = GivenCode::read(code, otp.length)?;
    let context = admission.context();
    let expected = Code::derive(&context.otp_key, otp.id, otp.kind, otp.length);
    let account = admission.customer().account.id;
    let now_ms = context.clock.now_ms();
    let otps = context.store.otps();
    let verified = otps.verify(
        account,
        admission.environment(),
        otp.id,
        (expected, given),
        now_ms,
    );
    let verified = within(async { Ok(verified.await?) }).await?;
    verified.ok_or_else(|| Refusal::UnknownMessage.into())
}

/// Cancels a one-time password.
pub async fn cancel(admission: &Admission, otp_id: &str) -> Result<OtpReport, Error> {
    let id: OtpId = otp_id.parse().map_err(|_| Refusal::UnknownMessage)?;
    let context = admission.context();
    let now_ms = context.clock.now_ms();
    let account = admission.customer().account.id;
    let otps = context.store.otps();
    let cancelled = otps.cancel(account, admission.environment(), id, now_ms);
    let cancelled = within(async { Ok(cancelled.await?) }).await?;
    let otp = cancelled.ok_or(Refusal::UnknownMessage)??;
    Ok(report(otp, now_ms))
}

/// Returns a one-time password.
pub async fn read(admission: &Admission, otp_id: &str) -> Result<OtpReport, Error> {
    let otp = find(admission, otp_id).await?;
    Ok(report(otp, admission.context().clock.now_ms()))
}

fn report(otp: Otp, now_ms: i64) -> OtpReport {
    OtpReport {
        state: otp.verification.state(now_ms),
        otp,
    }
}
