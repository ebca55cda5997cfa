//! Changes of a message: `POST` to a path below `/messages/{message_id}`.

use super::item::changed_answer;
use crate::format::Naira;
use crate::http::extract::call::changes::ChangingMessage;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use axum::response::Response;
use domain::Environment;
use domain::schedule::parse_new_send_at;
use engine::Message;
use engine::message_changes::{self, Cancelled, MessageRequest};
use serde::Serialize;
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
    let environment = call.environment();
    let answer = move |cancelled: &Cancelled| CancelData::answer(*cancelled, environment);
    let keyed = call.keyed(key, answer);
    let cancelled = message_changes::cancel(&call.admission, &id, keyed).await;
    call.changed(cancelled, answer)
}

/// Pauses a message.
pub(crate) async fn pause(changing: ChangingMessage) -> Response {
    change(changing, "Message paused.", MessageRequest::Pause).await
}

/// Resumes a message.
pub(crate) async fn resume(changing: ChangingMessage) -> Response {
    change(changing, "Message resumed.", MessageRequest::Resume).await
}

/// Gives a message another due time.
pub(crate) async fn reschedule(changing: ChangingMessage) -> Response {
    match parse_new_send_at(changing.send_at.as_deref()) {
        Ok(send_at_ms) => {
            let request = MessageRequest::Reschedule { send_at_ms };
            change(changing, "Message rescheduled.", request).await
        }
        Err(refusal) => changing.call.refuse(refusal),
    }
}

/// Makes a change whose answer is the message.
async fn change(
    changing: ChangingMessage,
    text: &'static str,
    request: MessageRequest,
) -> Response {
    let ChangingMessage {
        call,
        id,
        key,
        permit: _until_answered,
        ..
    } = changing;
    let environment = call.environment();
    let answer = move |message: &Message| changed_answer(message.clone(), environment, text);
    let keyed = call.keyed(key, answer);
    let changed = message_changes::change(&call.admission, &id, request, keyed).await;
    call.changed(changed, answer)
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
    /// Recipients that a carrier had already, or that ended before. While a node is slow, also recipients that are cancelled
    /// later.
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
