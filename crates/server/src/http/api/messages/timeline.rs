//! `GET /messages/{message_id}/recipients/{recipient}`: a recipient with its events.

use super::recipients::RecipientItem;
use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Listing;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use engine::{EventKind, Timeline};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Reads one recipient of a message.
pub(crate) async fn recipient(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let (id, number) = (listing.part(2)?, listing.part(0)?);
        let found = call.admission.queries().recipient(&id, &number).await?;
        Ok::<_, Failure>(TimelineData::answer(found, environment))
    };
    call.answer(found.await)
}

/// A recipient with its events.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimelineData {
    #[serde(flatten)]
    recipient: RecipientItem,
    /// The events, oldest first.
    events: Vec<TimelineEvent>,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

/// An event of a recipient.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimelineEvent {
    /// The time of the event.
    at: LagosTime,
    /// `accepted`, `scheduled`, `paused`, `resumed`, `submitted`, `refused`, `in_doubt`, `receipt`, `cancelled`, `settled`,
    /// `refunded` or `callback`. Ignore others.
    #[schema(example = "submitted")]
    event: &'static str,
    /// The detail, which differs by event.
    #[schema(value_type = Object)]
    detail: Value,
}

impl TimelineData {
    pub(crate) fn answer(found: Timeline, environment: Environment) -> Envelope<Self> {
        Envelope::new("Recipient retrieved.", Self::new(found, environment))
    }

    pub(crate) fn new(found: Timeline, environment: Environment) -> Self {
        Self {
            recipient: RecipientItem::new(found.recipient),
            events: found.events.into_iter().map(TimelineEvent::new).collect(),
            sandbox: sandbox_mark(environment),
        }
    }
}

impl TimelineEvent {
    fn new(found: engine::Event) -> Self {
        let (event, detail) = match found.kind {
            EventKind::Accepted => ("accepted", json!({})),
            EventKind::Scheduled { for_ms } => {
                let at = LagosTime { at_ms: for_ms };
                ("scheduled", json!({ "scheduled_for": at }))
            }
            EventKind::Paused => ("paused", json!({})),
            EventKind::Resumed => ("resumed", json!({})),
            EventKind::Submitted {
                carrier,
                carrier_message_id,
                pages,
            } => (
                "submitted",
                json!({
                    "carrier": carrier,
                    "carrier_message_id": carrier_message_id,
                    "pages": pages,
                }),
            ),
            EventKind::Refused {
                carrier,
                command_status,
            } => (
                "refused",
                json!({ "carrier": carrier, "command_status": command_status }),
            ),
            EventKind::InDoubt { carrier } => ("in_doubt", json!({ "carrier": carrier })),
            EventKind::Receipt { carrier, raw } => {
                let tlvs = raw
                    .shown_parameters()
                    .map(|(tag, value)| (tag, value.into()));
                let tlvs: serde_json::Map<String, Value> = tlvs.collect();
                (
                    "receipt",
                    json!({ "carrier": carrier, "text": raw.text, "tlvs": tlvs }),
                )
            }
            EventKind::Cancelled => ("cancelled", json!({})),
            EventKind::Settled { delivery_status } => {
                let status = delivery_status.outside();
                ("settled", json!({ "delivery_status": status }))
            }
            EventKind::Refunded { amount, component } => {
                let (amount, component) = (Naira(amount), component.as_str());
                (
                    "refunded",
                    json!({ "amount": amount, "component": component }),
                )
            }
            EventKind::Callback { attempt, status } => {
                ("callback", json!({ "attempt": attempt, "status": status }))
            }
        };
        Self {
            at: LagosTime { at_ms: found.at_ms },
            event,
            detail,
        }
    }
}
