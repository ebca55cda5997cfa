//! The call that requests a sender ID.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::memory::BodyPermit;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::Refusal;
use domain::idempotency::IdempotencyKey;
use domain::sender_request::SenderFields;
use engine::Purpose;
use std::sync::Arc;

/// A call that requests a sender ID.
pub(crate) struct RequestingSender {
    pub(crate) call: Call,
    pub(crate) fields: SenderFields,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for RequestingSender {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        let found = read(&mut entry, api).await;
        match found.and_then(|found| Ok((found, entry.idempotency_key()?))) {
            Ok(((fields, permit), key)) => Ok(Self {
                call,
                fields,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// Reads the fields. The body overrides the query.
async fn read(entry: &mut Entry, api: &Api) -> Result<(SenderFields, BodyPermit), Refusal> {
    let (body, permit) = entry.body_fields(api).await?;
    let query = std::mem::take(&mut entry.query);
    if let Some(fault) = body.fault.or(query.fault) {
        return Err(fault);
    }
    let fields = SenderFields {
        sender_id: body.sender.sender_id.or(query.sender.sender_id),
        purpose: body.sender.purpose.or(query.sender.purpose),
    };
    Ok((fields, permit))
}
