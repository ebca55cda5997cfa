//! Changes of a message: `POST` to a path below `/messages/{message_id}`.

use crate::format::Naira;
use crate::http::extract::call::changes::ChangingMessage;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use axum::response::Response;
use domain::Environment;
use engine::message_changes::{self, Cancelled};
use engine::{Changed, Error, KeyedAnswer};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Cancels a message.
pub(crate) async fn cancel(changing: ChangingMessage) -> Response {
    let ChangingMessage {
        call,
        id,
        key,
        permit: _until_answered,
        ..
    } = changing;
    let (environment, codes) = (call.environment(), call.codes().clone());
    let answer = move |cancelled: &Cancelled| CancelData::answer(*cancelled, environment);
    let keyed = key.map(|key| KeyedAnswer {
        key,
        write: Arc::new(move |cancelled: &Cancelled| codes.written(answer(cancelled))),
    });
    match message_changes::cancel(&call.admission, &id, keyed).await {
        Ok(Changed::First(cancelled)) => call.answer(Ok::<_, Error>(answer(&cancelled))),
        Ok(Changed::Replay(kept)) => call.replay(kept),
        Err(error) => call.refuse(error),
    }
}

/// A cancelled message.
#[derive(Serialize, ToSchema)]
pub(crate) struct CancelData {
    /// As the send answered it.
    message_id: String,
    /// `cancelled` if no carrier had a recipient, else `sending` or `completed`.
    #[schema(example = "cancelled")]
    state: &'static str,
    /// Recipients that ended as `cancelled`.
    #[schema(example = 2)]
    cancelled: i64,
    /// Recipients that a carrier had already, or that ended before.
    #[schema(example = 0)]
    not_cancelled: i64,
    /// The charges of the cancelled recipients.
    refunded: Naira,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl CancelData {
    pub(crate) fn answer(cancelled: Cancelled, environment: Environment) -> Envelope<Self> {
        let data = Self {
            message_id: cancelled.message_id.to_string(),
            state: cancelled.state.as_str(),
            cancelled: cancelled.cancelled,
            not_cancelled: cancelled.not_cancelled,
            refunded: Naira(cancelled.refunded),
            sandbox: sandbox_mark(environment),
        };
        Envelope::new("Message cancelled.", data)
    }
}
