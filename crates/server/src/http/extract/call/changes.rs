//! The extractor of a call that changes an accepted message.

use super::{Call, Entry};
use crate::http::context::Api;
use crate::http::extract::body::memory::BodyPermit;
use crate::http::extract::form;
use axum::extract::{FromRequest, Request};
use axum::response::Response;
use domain::Refusal;
use domain::idempotency::IdempotencyKey;
use engine::Purpose;
use std::sync::Arc;

/// A call that cancels, pauses, resumes or reschedules a message.
pub(crate) struct ChangingMessage {
    pub(crate) call: Call,
    /// The id in the path.
    pub(crate) id: String,
    /// The new due time of a reschedule, as it was written.
    pub(crate) send_at: Option<String>,
    pub(crate) key: Option<IdempotencyKey>,
    /// The memory of its body, held until it is answered.
    pub(crate) permit: BodyPermit,
}

impl FromRequest<Arc<Api>> for ChangingMessage {
    type Rejection = Response;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Response> {
        let mut entry = Entry::of(request);
        let call = entry.enter(api, Purpose::Read).await?;
        let read = async {
            let (fields, permit) = entry.send_fields(api).await?;
            let id = id_of(entry.parts.uri.path())?;
            Ok::<_, Refusal>((id, fields.send_at, permit, entry.idempotency_key()?))
        };
        match read.await {
            Ok((id, send_at, permit, key)) => Ok(Self {
                call,
                id,
                send_at,
                key,
                permit,
            }),
            Err(refusal) => Err(call.refuse(refusal)),
        }
    }
}

/// Returns the id in a path that ends with the name of a change.
fn id_of(path: &str) -> Result<String, Refusal> {
    form::of_path(path.rsplit('/').nth(1).unwrap_or_default())
}
