//! Calls about one-time passwords.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::memory::BodyPermit;
use crate::http::extract::fields::{Fields, Name};
use axum::extract::{FromRequest, Request};
use axum::http::Method;
use axum::response::Response;
use domain::idempotency::IdempotencyKey;
use domain::otp::OtpFields;
use domain::{Refusal, SendFields};
use engine::Purpose;
use std::sync::Arc;

/// The part of a path before the id of a one-time password.
const PREFIX: &str = "/otp/";

/// The fields of a send that the request for a code does not read.
const OF_SENDS: [Name; 6] = [
    Name::Gateway,
    Name::Dnd,
    Name::AppendSender,
    Name::SendAt,
    Name::Validity,
    Name::Code,
];
/// The fields that only the request for a code reads.
const OF_CODES: [Name; 10] = [
    Name::From,
    Name::To,
    Name::Body,
    Name::Unicode,
    Name::CallbackUrl,
    Name::CustomerReference,
    Name::Length,
    Name::Kind,
    Name::ExpiresIn,
    Name::MaxAttempts,
];

/// A call that sends a code.
pub(crate) struct SendingOtp {
    pub(crate) call: Call,
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
        let found = read(&mut entry, api, &OF_SENDS).await;
        match found.and_then(|found| Ok((found, entry.idempotency_key()?))) {
            Ok((
                OtpRead {
                    fields,
                    own,
                    permit,
                    ..
                },
                key,
            )) => Ok(Self {
                call,
                fields,
                own,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// A call that sends a code again.
pub(crate) struct ResendingOtp {
    pub(crate) call: Call,
    pub(crate) id: String,
    /// The given fields, of which the call reads none.
    pub(crate) ignored: Vec<String>,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for ResendingOtp {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Send).await?;
        let unread = [&OF_CODES[..], &OF_SENDS].concat();
        let found = read(&mut entry, api, &unread).await;
        match found.and_then(|found| Ok((found, entry.idempotency_key()?))) {
            Ok((found, key)) => Ok(Self {
                call,
                id: id_of(entry.parts.uri.path()),
                ignored: found.fields.ignored,
                key,
                permit: found.permit,
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
    /// The key of a change. A call that only reads has none.
    pub(crate) key: Option<IdempotencyKey>,
}

impl FromRequest<Arc<Api>> for UsingOtp {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        let found = read(&mut entry, api, &[]).await;
        let only_reads = entry.parts.method == Method::GET;
        let key = || {
            if only_reads {
                Ok(None)
            } else {
                entry.idempotency_key()
            }
        };
        match found.and_then(|found| Ok((found, key()?))) {
            Ok((OtpRead { code, .. }, key)) => Ok(Self {
                call,
                id: id_of(entry.parts.uri.path()),
                code,
                key,
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

/// The fields of a request about a one-time password.
struct OtpRead {
    fields: SendFields,
    own: OtpFields,
    /// A typed code.
    code: Option<String>,
    permit: BodyPermit,
}

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

/// Reads the fields, of which `unread` are only named in the answer.
async fn read(entry: &mut Entry, api: &Api, unread: &[Name]) -> Result<OtpRead, Refusal> {
    let (mut body, permit) = entry.body_fields(api).await?;
    let mut query = std::mem::take(&mut entry.query);
    body.ignore_all(unread);
    query.ignore_all(unread);
    let (own, code) = split(&mut body, &mut query);
    let mut fields = body.over(query)?;
    let own = OtpFields {
        body: fields.body.take(),
        ..own
    };
    Ok(OtpRead {
        fields,
        own,
        code,
        permit,
    })
}
