//! `GET /messages/{message_id}/recipients`: the recipients of a message.

use crate::format::{LagosTime, Naira};
use crate::http::api::list::List;
use crate::http::extract::call::Listing;
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the recipients of a message.
pub(crate) async fn recipients(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let (id, fields) = (listing.part(1)?, listing.fields()?);
        let queries = call.admission.queries();
        let found = queries.recipients(&id, &fields.filter, fields.page());
        Ok::<_, Failure>(recipients_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Returns the envelope of a page of recipients.
pub(crate) fn recipients_answer(
    found: engine::ListPage<engine::RecipientState>,
    environment: Environment,
) -> Envelope<List<RecipientItem>> {
    let list = List::new(found, environment, RecipientItem::new);
    Envelope::new("Recipients retrieved.", list)
}

/// A recipient of a message.
#[derive(Serialize, ToSchema)]
pub(crate) struct RecipientItem {
    /// The number in international format.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// The network, guessed from the prefix, or `other`.
    #[schema(example = "mtn")]
    network: String,
    /// `sent awaiting status`, `delivrd`, `undeliv`, `expired`, `rejectd`, `failed` or `cancelled`.
    #[schema(example = "delivrd")]
    delivery_status: &'static str,
    /// The error code of the carrier.
    #[schema(required = true)]
    error_code: Option<String>,
    /// The text of this recipient. Only for a personalised message, until retention removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Hello Ada, you owe N1500.")]
    body: Option<String>,
    /// Pages of the text.
    pages: i64,
    /// The charge. Until a carrier has answered, it follows from the current prices.
    cost: Naira,
    /// The refunds.
    refunded: Naira,
    /// The time of the carrier's response.
    #[schema(required = true)]
    submitted_at: Option<LagosTime>,
    /// The time of the last change.
    updated_at: LagosTime,
}

impl RecipientItem {
    pub(super) fn new(found: engine::RecipientState) -> Self {
        Self {
            recipient: found.recipient.to_string(),
            network: found.network,
            delivery_status: found.delivery_status,
            error_code: found.error_code,
            body: found.body,
            pages: found.pages,
            cost: Naira(found.cost),
            refunded: Naira(found.refunded),
            submitted_at: found.submitted_at_ms.map(|at_ms| LagosTime { at_ms }),
            updated_at: LagosTime {
                at_ms: found.updated_at_ms,
            },
        }
    }
}
