//! The calls that add an object of the account and that remove one: sender IDs, and routes of
//! inbound messages.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::memory::BodyPermit;
use crate::http::extract::fields::Fields;
use crate::http::extract::form;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::Refusal;
use domain::idempotency::IdempotencyKey;
use domain::inbound::RouteFields;
use domain::sender_request::SenderFields;
use engine::Purpose;
use std::sync::Arc;

/// The raw fields of an object.
pub(crate) trait ObjectFields: Send + Sized {
    /// Takes them out of the fields of a request. The body overrides the query.
    fn of(body: Fields, query: Fields) -> Self;
}

impl ObjectFields for SenderFields {
    fn of(body: Fields, query: Fields) -> Self {
        let (body, query) = (body.sender, query.sender);
        Self {
            sender_id: body.sender_id.or(query.sender_id),
            purpose: body.purpose.or(query.purpose),
        }
    }
}

impl ObjectFields for RouteFields {
    fn of(body: Fields, query: Fields) -> Self {
        let (body, query) = (body.route, query.route);
        Self {
            number: body.number.or(query.number),
            keyword: body.keyword.or(query.keyword),
            url: body.url.or(query.url),
        }
    }
}

/// A call that adds the object with these fields.
pub(crate) struct Adding<F> {
    pub(crate) call: Call,
    pub(crate) fields: F,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl<F: ObjectFields> FromRequest<Arc<Api>> for Adding<F> {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        let found = read::<F>(&mut entry, api).await;
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

async fn read<F: ObjectFields>(entry: &mut Entry, api: &Api) -> Result<(F, BodyPermit), Refusal> {
    let (mut body, permit) = entry.body_fields(api).await?;
    let mut query = std::mem::take(&mut entry.query);
    if let Some(fault) = body.fault.take().or(query.fault.take()) {
        return Err(fault);
    }
    Ok((F::of(body, query), permit))
}

/// A call that removes the object that its path names.
pub(crate) struct Removing {
    pub(crate) call: Call,
    /// The last part of the path.
    pub(crate) id: String,
    pub(crate) key: Option<IdempotencyKey>,
}

impl FromRequest<Arc<Api>> for Removing {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        let read = || {
            if let Some(fault) = entry.query.fault.clone() {
                return Err(fault);
            }
            let last = entry.parts.uri.path().rsplit('/').next();
            Ok((
                form::of_path(last.unwrap_or_default())?,
                entry.idempotency_key()?,
            ))
        };
        match read() {
            Ok((id, key)) => Ok(Self { call, id, key }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}
