//! Calls with the rows of a personalised send.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::Expected;
use crate::http::extract::body::memory::BodyPermit;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::SendFields;
use domain::idempotency::IdempotencyKey;
use domain::personalised::Rows;
use engine::Purpose;
use std::sync::Arc;

/// A call that sends a text of its own to each recipient.
pub(crate) struct SendingPersonalised {
    pub(crate) call: Call,
    pub(crate) fields: SendFields,
    pub(crate) rows: Rows,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for SendingPersonalised {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::expecting(request, Expected::Rows);
        let call = entry.enter(api, Purpose::Send).await?;
        let read = entry.personalised_fields(api).await;
        match read.and_then(|read| Ok((read, entry.idempotency_key()?))) {
            Ok(((fields, rows, permit), key)) => Ok(Self {
                call,
                fields,
                rows,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// A call that asks for the price of a personalised send.
pub(crate) struct QuotingPersonalised {
    pub(crate) call: Call,
    pub(crate) fields: SendFields,
    pub(crate) rows: Rows,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for QuotingPersonalised {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::expecting(request, Expected::Rows);
        let call = entry.enter(api, Purpose::Quote).await?;
        match entry.personalised_fields(api).await {
            Ok((fields, rows, permit)) => Ok(Self {
                call,
                fields,
                rows,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}
