//! A message in answers.

use crate::format::{LagosTime, Naira};
use crate::http::api::reports::Summary;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use domain::Environment;
use serde::Serialize;
use utoipa::ToSchema;

/// Returns the envelope of one message after an operation.
pub(crate) fn changed_answer(
    message: engine::Message,
    environment: Environment,
    text: &'static str,
) -> Envelope<MessageData> {
    let data = MessageData {
        message: MessageItem::new(message),
        sandbox: sandbox_mark(environment),
    };
    Envelope::new(text, data)
}

/// A message.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageItem {
    /// The `message_id` in the answer to the send.
    message_id: String,
    /// The time of the acceptance.
    created_at: LagosTime,
    /// The due time, or null if it was due at once.
    #[schema(required = true)]
    scheduled_for: Option<LagosTime>,
    /// `scheduled`, `sending`, `paused`, `completed` or `cancelled`.
    #[schema(example = "completed")]
    state: &'static str,
    /// The sender ID.
    #[schema(example = "AdaStores")]
    sender: String,
    /// The gateway.
    #[schema(example = "direct-refund")]
    gateway: &'static str,
    /// The text, or null once retention removed it.
    #[schema(required = true)]
    body: Option<String>,
    /// The number of recipients.
    recipients_count: u64,
    /// Pages of the longest form of the text.
    page_count: i64,
    /// Pages of all recipients.
    pages_total: i64,
    /// The charge.
    cost: Naira,
    /// The refunds so far.
    refunded: Naira,
    /// The reference of the send.
    #[schema(required = true)]
    customer_reference: Option<String>,
    summary: Summary,
}

impl MessageItem {
    pub(crate) fn new(message: engine::Message) -> Self {
        Self {
            message_id: message.id.to_string(),
            created_at: LagosTime {
                at_ms: message.created_at_ms,
            },
            scheduled_for: message.scheduled_for_ms.map(|at_ms| LagosTime { at_ms }),
            state: message.state.as_str(),
            sender: message.sender,
            gateway: message.gateway.as_str(),
            body: message.body,
            recipients_count: message.recipients,
            page_count: message.page_count,
            pages_total: message.pages_total,
            cost: Naira(message.cost),
            refunded: Naira(message.refunded),
            customer_reference: message.customer_reference,
            summary: Summary {
                total: message.recipients,
                delivered: message.delivered,
                pending: message.pending,
                failed: message.failed,
            },
        }
    }
}

/// One message.
#[derive(Serialize, ToSchema)]
pub(crate) struct MessageData {
    #[serde(flatten)]
    message: MessageItem,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}
