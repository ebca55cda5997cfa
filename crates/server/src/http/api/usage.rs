//! `GET /usage` (docs/spec/finding.md, section 6).

use super::list::List;
use crate::format::Naira;
use crate::http::extract::call::Listing;
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use serde::Serialize;
use utoipa::ToSchema;

/// Adds up the usage of the account.
pub(crate) async fn usage(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let (fields, queries) = listing.queries().await?;
        let found = queries.usage(&fields.filter, fields.page());
        Ok::<_, Failure>(usage_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Returns the envelope of a usage report.
pub(crate) fn usage_answer(
    found: engine::ListPage<engine::Usage>,
    environment: Environment,
) -> Envelope<List<UsageItem>> {
    let list = List::new(found, environment, UsageItem::new);
    Envelope::new("Usage retrieved.", list)
}

/// A group of messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct UsageItem {
    /// The hour, day, gateway, network or sender ID.
    #[schema(example = "2026-11-18")]
    key: String,
    /// Messages with a recipient in the group.
    messages: u64,
    /// Recipients.
    recipients: u64,
    /// Delivered recipients.
    delivered: u64,
    /// Recipients that were not delivered.
    failed: u64,
    /// Recipients without an outcome.
    pending: u64,
    /// Pages.
    pages: i64,
    /// Charges, before refunds.
    cost: Naira,
    /// Refunds.
    refunded: Naira,
}

impl UsageItem {
    pub(crate) fn new(usage: engine::Usage) -> Self {
        Self {
            key: usage.key,
            messages: usage.messages,
            recipients: usage.recipients,
            delivered: usage.delivered,
            failed: usage.failed,
            pending: usage.pending,
            pages: usage.pages,
            cost: Naira(usage.cost),
            refunded: Naira(usage.refunded),
        }
    }
}
