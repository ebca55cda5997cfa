//! `GET /wallet/entries` (docs/spec/finding.md, section 5).

use super::list::List;
use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Listing;
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the entries of the wallet.
pub(crate) async fn entries(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let (fields, queries) = listing.queries().await?;
        let found = queries.wallet_entries(&fields.filter, fields.page());
        Ok::<_, Failure>(entries_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Returns the envelope of a page of entries.
pub(crate) fn entries_answer(
    found: engine::ListPage<engine::WalletEntry>,
    environment: Environment,
) -> Envelope<List<WalletItem>> {
    let list = List::new(found, environment, WalletItem::new);
    Envelope::new("Wallet entries retrieved.", list)
}

/// An entry of the wallet.
#[derive(Serialize, ToSchema)]
pub(crate) struct WalletItem {
    /// The id of the entry.
    entry_id: String,
    /// The time of the entry.
    at: LagosTime,
    /// `charge`, `refund`, `credit` or `debit`. Ignore others.
    #[schema(example = "charge")]
    kind: &'static str,
    /// The amount, negative for a charge.
    amount: Naira,
    /// The component of the wallet.
    #[schema(example = "sms_wallet")]
    component: &'static str,
    /// The balance of the component after the entry.
    balance_after: Naira,
    /// The message of a charge or refund.
    #[schema(required = true)]
    message_id: Option<String>,
    /// The recipient of a refund.
    #[schema(required = true)]
    recipient: Option<String>,
    /// The reference of a credit or debit.
    #[schema(required = true)]
    reference: Option<String>,
}

impl WalletItem {
    fn new(entry: engine::WalletEntry) -> Self {
        Self {
            entry_id: entry.id,
            at: LagosTime { at_ms: entry.at_ms },
            kind: entry.kind.as_str(),
            amount: Naira(entry.amount),
            component: entry.component.as_str(),
            balance_after: Naira(entry.balance_after),
            message_id: entry.message.map(|id| id.to_string()),
            recipient: entry.recipient.map(|recipient| recipient.to_string()),
            reference: entry.reference,
        }
    }
}
