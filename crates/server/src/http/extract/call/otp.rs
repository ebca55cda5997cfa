//! Calls about one-time passwords.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::memory::BodyPermit;
use crate::http::extract::fields::Fields;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::idempotency::IdempotencyKey;
use domain::otp::OtpFields;
use domain::{Refusal, SendFields};
use engine::Purpose;
use std::sync::Arc;

/// The part of a path before the id of a one-time password.
const PREFIX: &str = "/otp/";

/// A call that sends a code.
pub(crate) struct SendingOtp {
    pub(crate) call: Call,
    pub(crate) id: String,
    pub(crate) fields: SendFields,
    pub(crate) own: OtpFields,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for SendingOtp {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Send).await?;
        let found = read(&mut entry, api).await;
        match found.and_then(|found| Ok((found, entry.idempotency_key()?))) {
            Ok(((fields, own, _, permit), key)) => Ok(Self {
                call,
                id: id_of(entry.parts.uri.path()),
                fields,
                own,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// A call that verifies, cancels or reads a one-time password.
pub(crate) struct UsingOtp {
    pub(crate) call: Call,
    pub(crate) id: String,
    pub(crate) code: Option<String>,
}

impl FromRequest<Arc<Api>> for UsingOtp {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        match read(&mut entry, api).await {
            Ok((_, _, code, _)) => Ok(Self {
                call,
                id: id_of(entry.parts.uri.path()),
                code,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// Returns the id in the path.
fn id_of(path: &str) -> String {
    let after = path.split_once(PREFIX).map_or("", |(_, after)| after);
    let id = after.split('/').next().unwrap_or_default();
    id.to_owned()
}

/// The fields of a send, those of a one-time password, and a given code.
type OtpRead = (SendFields, OtpFields, Option<String>, BodyPermit);

/// Takes the fields of one-time passwords out of the others, so that they are not reported as
/// ignored. The fields of the body override those of the query.
fn split(body: &mut Fields, query: &mut Fields) -> (OtpFields, Option<String>) {
    let (own, other) = (
        std::mem::take(&mut body.otp),
        std::mem::take(&mut query.otp),
    );
    let own = OtpFields {
        body: None,
        length: own.length.or(other.length),
        kind: own.kind.or(other.kind),
        expires_in: own.expires_in.or(other.expires_in),
        max_attempts: own.max_attempts.or(other.max_attempts),
    };
    (own, body.code.take().or(query.code.take()))
}

async fn read(entry: &mut Entry, api: &Api) -> Result<OtpRead, Refusal> {
    let (mut body, permit) = entry.body_fields(api).await?;
    let mut query = std::mem::take(&mut entry.query);
    let (own, code) = split(&mut body, &mut query);
    let mut fields = body.over(query)?;
    let own = OtpFields {
        body: fields.body.take(),
        ..own
    };
    Ok((fields, own, code, permit))
}
