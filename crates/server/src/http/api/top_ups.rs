//! `GET` and `POST /top-ups`, `GET /top-ups/{top_up_id}` and its receipt (docs/spec/payments.md).

use super::list::List;
use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::Adding;
use crate::http::payments::pages;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::payment::{TopUp, TopUpFields};
use engine::{ListPage, top_ups};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the top-ups of the account.
pub(crate) async fn list(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.top_ups(fields.page()).await?;
        Ok::<_, Failure>(list_answer(found, environment))
    };
    call.answer(found.await)
}

/// Makes a top-up.
pub(crate) async fn create(adding: Adding<TopUpFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let keyed = call.keyed(key, created_answer);
    let created = top_ups::create_top_up(&call.admission, &fields, keyed).await;
    call.changed(created, created_answer)
}

/// Reads a top-up.
pub(crate) async fn read(listing: Listing) -> Response {
    let call = &listing.call;
    let found = async {
        let top_up = top_ups::find_top_up(&call.admission, &listing.part(0)?).await?;
        Ok::<_, Failure>(read_answer(&top_up))
    };
    call.answer(found.await)
}

/// Reads the receipt of a paid top-up, as a page to print.
pub(crate) async fn receipt(listing: Listing) -> Response {
    let call = &listing.call;
    let found = async {
        let top_up = top_ups::find_paid_top_up(&call.admission, &listing.part(1)?).await?;
        Ok::<_, Failure>(pages::receipt(&top_up, &call.admission.customer().account))
    };
    match found.await {
        Ok(page) => call.with_headers(page),
        Err(failure) => call.refuse(failure),
    }
}

/// Returns the envelope of a page of top-ups.
pub(crate) fn list_answer(
    found: ListPage<TopUp>,
    environment: Environment,
) -> Envelope<List<TopUpItem>> {
    let list = List::new(found, environment, |top_up| TopUpItem {
        sandbox: None,
        ..TopUpItem::new(&top_up)
    });
    Envelope::new("Top-ups retrieved.", list)
}

/// Returns the envelope of a new top-up.
pub(crate) fn created_answer(top_up: &TopUp) -> Envelope<TopUpItem> {
    Envelope::new(
        "Top-up made. Pay it at `checkout_url`.",
        TopUpItem::new(top_up),
    )
}

/// Returns the envelope of a top-up.
pub(crate) fn read_answer(top_up: &TopUp) -> Envelope<TopUpItem> {
    Envelope::new("Top-up retrieved.", TopUpItem::new(top_up))
}

/// A top-up.
#[derive(Serialize, ToSchema)]
pub(crate) struct TopUpItem {
    /// Its id; a UUID.
    top_up_id: String,
    /// The reference by which the provider names it.
    reference: String,
    /// `pending`, `paid`, `failed`, `expired` or `mismatch`. A payment after `expired` or `failed` is credited as well.
    #[schema(example = "pending")]
    state: &'static str,
    /// The payment provider.
    #[schema(example = "paystack")]
    provider: String,
    /// The amount that is credited.
    amount: Naira,
    /// The VAT on top of the amount.
    vat: Naira,
    /// The amount to pay.
    total: Naira,
    /// The bonus that is credited beside the amount.
    bonus: Naira,
    /// The page on which it is paid.
    checkout_url: String,
    /// The time at which it was made.
    created_at: LagosTime,
    /// The end of the time to pay.
    expires_at: LagosTime,
    /// The time of the credit, or null.
    #[schema(required = true)]
    paid_at: Option<LagosTime>,
    /// The number of the receipt, or null until it is paid.
    #[schema(required = true, example = 1042)]
    receipt_number: Option<i64>,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl TopUpItem {
    fn new(top_up: &TopUp) -> Self {
        let time = |at_ms| LagosTime { at_ms };
        let price = &top_up.price;
        Self {
            top_up_id: top_up.id.to_string(),
            reference: top_up.reference.clone(),
            state: top_up.state.as_str(),
            provider: top_up.provider.clone(),
            amount: Naira(price.amount),
            vat: Naira(price.vat),
            total: Naira(top_up.total()),
            bonus: Naira(price.bonus),
            checkout_url: top_up.checkout_url.clone(),
            created_at: time(top_up.created_at_ms),
            expires_at: time(top_up.expires_at_ms),
            paid_at: top_up.paid_at_ms.map(time),
            receipt_number: top_up.receipt_number,
            sandbox: sandbox_mark(top_up.environment),
        }
    }
}
