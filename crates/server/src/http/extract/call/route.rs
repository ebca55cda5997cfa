//! The calls that change routes of inbound messages.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::memory::BodyPermit;
use crate::http::extract::form;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::Refusal;
use domain::idempotency::IdempotencyKey;
use domain::inbound::RouteFields;
use engine::Purpose;
use std::sync::Arc;

/// A call that adds a route.
pub(crate) struct AddingRoute {
    pub(crate) call: Call,
    pub(crate) fields: RouteFields,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for AddingRoute {
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
async fn read(entry: &mut Entry, api: &Api) -> Result<(RouteFields, BodyPermit), Refusal> {
    let (body, permit) = entry.body_fields(api).await?;
    let query = std::mem::take(&mut entry.query);
    if let Some(fault) = body.fault.or(query.fault) {
        return Err(fault);
    }
    let (body, query) = (body.route, query.route);
    let fields = RouteFields {
        number: body.number.or(query.number),
        keyword: body.keyword.or(query.keyword),
        url: body.url.or(query.url),
    };
    Ok((fields, permit))
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
