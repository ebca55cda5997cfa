//! The top-ups of the account: the list, and one with its payment and its receipt.

use super::super::failure::Failure;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::payment_parts::{component, known, provider, received, state};
use super::shared::{page_fields, page_or_reason, pager, queries, reload_if};
use crate::http::payments::pages;
use console::Section;
use console::figures::{naira, time};
use console::parts::{Cell, Column, Empty, Figure, Table, Tone};
use console::screens::{self, Listing};
use domain::Environment;
use domain::payment::{TopUp, TopUpState};
use domain::user::role::Permission::ManageMoney;

/// The address of the list.
pub(super) const PATH: &str = "/console/top-ups";
/// The address of the form.
pub(super) const NEW: &str = "/console/top-ups/new";
/// The remedy of an installation without a payment provider.
const NO_PROVIDER: &str = "This installation takes no payments online. Ask the operator to add \
                           credit: it appears in the wallet.";

/// Returns `true` if the account can top up. The sandbox has a page that pays.
pub(super) fn is_open(visitor: &Visitor) -> bool {
    let has_provider = || !visitor.engine().payments().terms().providers.is_empty();
    visitor.environment() == Environment::Sandbox || has_provider()
}

/// Returns the address of a top-up.
pub(super) fn path(top_up: &TopUp) -> String {
    format!("{PATH}/{}", top_up.id)
}

/// `GET /console/top-ups`. A customer who comes back from a provider is led to the top-up.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let (queries, query) = (queries(&visitor)?, visitor.query());
    if let Some(id) = query.find("top_up_id") {
        return Ok(visitor.redirect(&path(&queries.top_up(id).await?)));
    }
    let found = queries.top_ups(page_fields(query)).await;
    let (found, reason) = page_or_reason(found)?;
    let table = Table {
        label: "Top-ups".to_owned(),
        columns: vec![
            Column::text("Top-up"),
            Column::text("State"),
            Column::number("VAT").wide(),
            Column::number("To pay").wide(),
            Column::number("Bonus").wide(),
            Column::number("Made"),
        ],
        rows: found.items.iter().map(row).collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        reason.as_deref().unwrap_or("No top-ups yet"),
        "A payment into the wallet appears here, with its receipt.",
    );
    let mut actions = Vec::new();
    let lead = if !is_open(&visitor) {
        NO_PROVIDER
    } else if visitor.may(ManageMoney) {
        actions.push(("Top up".to_owned(), NEW.to_owned()));
        empty = empty.action("Top up", NEW);
        "A payment is credited as soon as its provider confirms it."
    } else {
        "Owners of the account top up."
    };
    let shell = visitor.shell("Top-ups", Section::TopUps);
    let screen = Listing {
        lead: lead.to_owned(),
        actions,
        pager: pager(PATH, query, &[], &found, "top-up"),
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(top_up: &TopUp) -> Vec<Cell> {
    vec![
        Cell::Link {
            name: naira(top_up.price.amount),
            href: path(top_up),
            note: provider(&top_up.provider),
        },
        Cell::Status(state(top_up.state)),
        Cell::text(naira(top_up.price.vat)),
        Cell::text(naira(top_up.total())),
        Cell::text(naira(top_up.price.bonus)),
        Cell::Time(top_up.created_at_ms),
    ]
}

/// Returns the top-up in the path.
async fn found(visitor: &Visitor) -> Result<TopUp, Failure> {
    Ok(queries(visitor)?.top_up(visitor.param("id")).await?)
}

/// `GET /console/top-ups/{id}`. With `part=state` it answers only whether the state is another one
/// than the page shows. Then the page is loaded again.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let (top_up, query) = (found(&visitor).await?, visitor.query());
    if query.get("part") == "state" {
        return Ok(reload_if(query.get("seen") != top_up.state.as_str()));
    }
    let is_live = matches!(top_up.state, TopUpState::Pending | TopUpState::Mismatch);
    let seen = top_up.state.as_str();
    Ok(visitor.answer(&screens::TopUp {
        shell: visitor.shell("Top-up", Section::TopUps),
        back: ("All top-ups".to_owned(), PATH.to_owned()),
        actions: actions(&visitor, &top_up),
        state: state(top_up.state),
        text: text(&top_up),
        refresh: is_live.then(|| format!("{}?part=state&seen={seen}", path(&top_up))),
        figures: figures(&top_up),
        facts: facts(&top_up),
    }))
}

fn actions(visitor: &Visitor, top_up: &TopUp) -> Vec<(String, String)> {
    let step = |name: &str, last: &str| (name.to_owned(), format!("{}/{last}", path(top_up)));
    let may_pay = visitor.may(ManageMoney);
    match top_up.state {
        TopUpState::Paid => vec![step("Receipt to print", "receipt")],
        TopUpState::Pending if may_pay => {
            vec![step(&format!("Pay {}", naira(top_up.total())), "pay")]
        }
        TopUpState::Failed | TopUpState::Expired if may_pay => {
            let again = format!("{NEW}?amount={}", top_up.price.amount);
            vec![("Top up again".to_owned(), again)]
        }
        _ => Vec::new(),
    }
}

fn text(top_up: &TopUp) -> String {
    let provider = provider(&top_up.provider);
    match top_up.state {
        TopUpState::Pending => format!(
            "{provider} has not confirmed the payment yet. The wallet is credited as soon as it \
             does, and this page shows it. Without script, reload the page."
        ),
        TopUpState::Paid if top_up.environment == Environment::Sandbox => {
            "This is the sandbox: no money moved, and nothing was credited.".to_owned()
        }
        TopUpState::Paid => "The wallet has the credit.".to_owned(),
        TopUpState::Failed if top_up.decided_at_ms.is_some() => {
            "The payment did not fit the top-up, and the operator rejected it. Ask the operator \
             for the money."
                .to_owned()
        }
        TopUpState::Failed => format!("{provider} refused the payment. Nothing was credited."),
        TopUpState::Expired => {
            "No payment arrived in time. A late payment is credited all the same.".to_owned()
        }
        TopUpState::Mismatch => {
            "The payment differs from the top-up, so the operator decides about it. Ask the \
             operator, and name the reference."
                .to_owned()
        }
    }
}

fn figures(top_up: &TopUp) -> Vec<Figure> {
    let price = &top_up.price;
    let rate = format!("{} %", price.vat_rate);
    let mut figures = vec![
        Figure::new("Credit", naira(price.amount)),
        Figure::new("VAT", naira(price.vat)).note(Tone::Plain, rate),
        Figure::new("To pay", naira(top_up.total())),
    ];
    if price.bonus.is_positive() {
        figures.push(Figure::new("Bonus", naira(price.bonus)).note(Tone::Good, "added as well"));
    }
    figures
}

fn facts(top_up: &TopUp) -> Vec<(String, String)> {
    let component = component(top_up.price.component);
    known([
        ("Provider", Some(provider(&top_up.provider))),
        ("Reference", Some(top_up.reference.clone())),
        ("Credited to", Some(component.to_owned())),
        ("Made", Some(time(top_up.created_at_ms))),
        ("Pay until", Some(time(top_up.expires_at_ms))),
        ("Received", top_up.received.as_ref().map(received)),
        ("Paid", top_up.paid_at_ms.map(time)),
        (
            "Receipt number",
            top_up.receipt_number.map(|number| number.to_string()),
        ),
    ])
}

/// `GET /console/top-ups/{id}/pay`: leads to the page of the provider. The content security policy
/// lets no form lead there.
pub(super) async fn pay(visitor: Visitor) -> Answered {
    let top_up = found(&visitor).await?;
    if top_up.state != TopUpState::Pending {
        return Ok(visitor.redirect(&path(&top_up)));
    }
    Ok(visitor.redirect(&top_up.checkout_url))
}

/// `GET /console/top-ups/{id}/receipt`.
pub(super) async fn receipt(visitor: Visitor) -> Answered {
    let top_up = found(&visitor).await?;
    if top_up.state != TopUpState::Paid {
        let text = "The top-up is not paid, so it has no receipt yet.";
        return Ok(visitor.refused(&path(&top_up), text));
    }
    let accounts = visitor.operations().accounts();
    let (account, _) = accounts.show(visitor.account()?).await?;
    Ok(pages::receipt(&top_up, &account))
}
