//! The pages of customers who pay: the one of the sandbox, the one to which a provider sends them
//! back, and the receipt.

use crate::format::lagos_time;
use crate::http::context::State;
use crate::http::respond::envelope::{CURRENCY, text};
use axum::extract::{Path, State as Shared};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use console::screens::{PAYMENT_CONTENT_SECURITY_POLICY, PaymentPage};
use domain::payment::{TopUp, TopUpState};
use domain::{Account, Environment, Money};

const POLICY: HeaderValue = text(PAYMENT_CONTENT_SECURITY_POLICY);
const HTML: HeaderValue = text("text/html; charset=utf-8");

/// `GET /payments/sandbox/{top_up_id}`: the page that pays a top-up of the sandbox.
pub(crate) async fn sandbox(Shared(state): Shared<State>, Path(id): Path<String>) -> Response {
    let found = state.engine.payments().find(&id).await;
    let found =
        found.map(|top_up| top_up.filter(|top_up| top_up.environment == Environment::Sandbox));
    respond(found, |top_up| {
        let is_paid = top_up.state == TopUpState::Paid;
        let page = PaymentPage {
            title: "Simulated payment".to_owned(),
            text: "This is the sandbox: no money moves.".to_owned(),
            action: (!is_paid).then(|| "Pay".to_owned()),
            ..about(top_up)
        };
        shown(StatusCode::OK, &page)
    })
}

/// `POST /payments/sandbox/{top_up_id}`: pays a top-up of the sandbox.
pub(crate) async fn pay(Shared(state): Shared<State>, Path(id): Path<String>) -> Response {
    respond(state.engine.payments().pay_in_sandbox(&id).await, back)
}

/// `GET /payments/return/{top_up_id}`: the page to which a provider sends a customer back.
pub(crate) async fn returned(Shared(state): Shared<State>, Path(id): Path<String>) -> Response {
    respond(state.engine.payments().returned(&id).await, back)
}

/// Leads a customer back to the page of the request, or shows the state of the payment.
fn back(top_up: &TopUp) -> Response {
    match &top_up.return_url {
        Some(url) => {
            // A fragment means nothing to the server of the page.
            let page = url.split('#').next().unwrap_or_default();
            let joint = if page.contains('?') { '&' } else { '?' };
            let (id, state) = (top_up.id, top_up.state.as_str());
            Redirect::to(&format!("{page}{joint}top_up_id={id}&state={state}")).into_response()
        }
        None => shown(StatusCode::OK, &about(top_up)),
    }
}

fn respond(
    found: Result<Option<TopUp>, engine::Error>,
    show: impl FnOnce(&TopUp) -> Response,
) -> Response {
    match found {
        Ok(Some(top_up)) => show(&top_up),
        Ok(None) => shown(
            StatusCode::NOT_FOUND,
            &plain(
                "Unknown payment",
                "There is no such payment. Check the address.",
            ),
        ),
        Err(error) => {
            tracing::error!(%error, "payment page: failed");
            let text =
                "The payment cannot be read now. Nothing is lost: reload this page in a minute.";
            shown(StatusCode::SERVICE_UNAVAILABLE, &plain("Try again", text))
        }
    }
}

fn plain(title: &str, text: &str) -> PaymentPage {
    PaymentPage {
        title: title.to_owned(),
        text: text.to_owned(),
        facts: Vec::new(),
        action: None,
        link: None,
    }
}

/// Returns the page of a top-up.
fn about(top_up: &TopUp) -> PaymentPage {
    let (title, text) = match top_up.state {
        TopUpState::Paid => ("Payment received", "Your wallet has the credit."),
        TopUpState::Pending => (
            "Payment not confirmed yet",
            "The provider has not confirmed the payment. Reload this page in a minute. Your wallet is credited as soon as \
             it is confirmed, even if you close this page.",
        ),
        TopUpState::Failed => (
            "Payment failed",
            "The provider refused the payment. Nothing was credited; make another top-up.",
        ),
        TopUpState::Expired => (
            "Time to pay is over",
            "No payment arrived in time. A late payment is credited all the same.",
        ),
        TopUpState::Mismatch => (
            "Payment under review",
            "The payment differs from the top-up, so a person decides about it. Contact support with the reference.",
        ),
    };
    let facts = [
        ("Amount", naira(top_up.price.amount)),
        ("VAT", naira(top_up.price.vat)),
        ("Total", naira(top_up.total())),
        ("Reference", top_up.reference.clone()),
    ];
    PaymentPage {
        facts: named(facts),
        ..plain(title, text)
    }
}

/// Returns the receipt of a paid top-up, as a page to print.
pub(crate) fn receipt(top_up: &TopUp, account: &Account) -> Response {
    shown(StatusCode::OK, &receipt_page(top_up, account))
}

/// Returns the HTML of a receipt.
pub(crate) fn receipt_html(top_up: &TopUp, account: &Account) -> String {
    console::html(&receipt_page(top_up, account))
}

fn receipt_page(top_up: &TopUp, account: &Account) -> PaymentPage {
    let number = top_up.receipt_number.unwrap_or_default();
    let price = &top_up.price;
    let mut facts = named([
        ("Receipt number", number.to_string()),
        (
            "Paid",
            top_up.paid_at_ms.map(lagos_time).unwrap_or_default(),
        ),
        ("Customer", format!("{} ({})", account.name, account.id)),
        ("For", "Prepaid SMS credit".to_owned()),
        ("Amount", naira(price.amount)),
    ]);
    facts.push((format!("VAT ({} %)", price.vat_rate), naira(price.vat)));
    facts.extend(named([("Total", naira(top_up.total()))]));
    if price.bonus.is_positive() {
        facts.extend(named([("Bonus credit", naira(price.bonus))]));
    }
    facts.extend(named([
        ("Provider", top_up.provider.clone()),
        ("Reference", top_up.reference.clone()),
    ]));
    let text = match top_up.environment {
        Environment::Live => "",
        Environment::Sandbox => "This is the sandbox: no money moved.",
    };
    PaymentPage {
        facts,
        ..plain(&format!("Receipt {number}"), text)
    }
}

fn named<const N: usize>(facts: [(&str, String); N]) -> Vec<(String, String)> {
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    facts.into()
}

fn naira(amount: Money) -> String {
    format!("{amount} {CURRENCY}")
}

fn shown(status: StatusCode, page: &PaymentPage) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HTML),
        (header::CACHE_CONTROL, text("no-store")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, text("no-referrer")),
    ];
    (status, headers, console::html(page)).into_response()
}
