//! The top-ups of all accounts, for operators: the list, and one with its decision.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::path as account_path;
use super::lists::{confirm, dangerous, request};
use super::payment_parts::{component, known, provider, received, state};
use super::shared::pager;
use console::Section;
use console::figures::{naira, time};
use console::parts::{Cell, Column, Empty, Field, Figure, Table, Tabs, Tone};
use console::screens::{Details, Listing, Part, SmallForm};
use domain::payment::{Acceptance, Mismatch, TopUp, TopUpId, TopUpState, check_decision};
use domain::{AccountId, Environment, Money};

/// The address of the list.
pub(super) const PATH: &str = "/operator/top-ups";
/// The address of the settings.
pub(super) const SETTINGS: &str = "/operator/top-ups/settings";
/// The value of the query for top-ups in any state.
const ANY: &str = "any";
/// The views of the list: those that wait for a decision come first.
const VIEWS: [(&str, &str); 6] = [
    ("Mismatches", "mismatch"),
    ("All", ANY),
    ("Pending", "pending"),
    ("Paid", "paid"),
    ("Failed", "failed"),
    ("Expired", "expired"),
];

/// `GET /operator/top-ups`: the mismatches, or the top-ups in the state of the query.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let query = visitor.query();
    let asked = query.find("state").unwrap_or(VIEWS[0].1);
    let view = VIEWS.iter().find(|(_, value)| *value == asked);
    let (name, value) = *view.ok_or(Failure::NotFound)?;
    let top_ups = visitor.operations().top_ups();
    let in_state = TopUpState::from_name(value);
    let page = top_ups.list(None, in_state, &request(&visitor)).await?;
    let table = Table {
        label: "Top-ups".to_owned(),
        columns: vec![
            Column::text("Top-up"),
            Column::text("State"),
            Column::text("Account"),
            Column::number("Expected").wide(),
            Column::text("Received").wide(),
            Column::number("Made"),
        ],
        rows: page.items.iter().map(row).collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = match in_state {
        Some(TopUpState::Mismatch) => Empty::new(
            "No mismatches",
            "A payment that does not fit its top-up waits here for your decision.",
        ),
        _ => Empty::new("No top-ups", "Payments of customers appear here."),
    };
    let links = VIEWS.map(|(_, value)| format!("{PATH}?state={value}"));
    let tabs = VIEWS.iter().zip(&links);
    let tabs: Vec<(&str, &str)> = tabs.map(|(view, link)| (view.0, link.as_str())).collect();
    let shell = visitor.shell("Top-ups", Section::AllTopUps);
    let screen = Listing {
        actions: vec![("Settings".to_owned(), SETTINGS.to_owned())],
        tabs: Some(Tabs::new("State", name, &tabs)),
        pager: pager(PATH, query, &["state"], &page, "top-up"),
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(top_up: &TopUp) -> Vec<Cell> {
    let account = top_up.account.map_or_else(
        || Cell::text("Unknown"),
        |id| Cell::link(id.to_string(), account_path(id)),
    );
    vec![
        Cell::Link {
            name: name(top_up),
            href: path(top_up.id),
            note: provider(&top_up.provider),
        },
        Cell::Status(state(top_up.state)),
        account,
        Cell::text(naira(top_up.total())),
        Cell::text(top_up.received.as_ref().map_or_else(dash, received)),
        Cell::Time(top_up.created_at_ms),
    ]
}

/// Returns the amount of a top-up, or the money of a payment without one.
fn name(top_up: &TopUp) -> String {
    let amount = naira(top_up.price.amount);
    match &top_up.received {
        Some(paid) if top_up.price.amount.is_zero() => received(paid),
        _ => amount,
    }
}

fn dash() -> String {
    "–".to_owned()
}

fn path(id: TopUpId) -> String {
    format!("{PATH}/{id}")
}

/// Returns the id in the path.
fn id(visitor: &Visitor) -> Result<TopUpId, Failure> {
    visitor.param("id").parse().map_err(|_| Failure::NotFound)
}

/// `GET /operator/top-ups/{id}`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let found = visitor.engine().payments().find(visitor.param("id")).await;
    let is_live = |top_up: &TopUp| top_up.environment == Environment::Live;
    let top_up = found?.filter(is_live).ok_or(Failure::NotFound)?;
    let title = format!("Top-up of {}", name(&top_up));
    let may_reject = check_decision(&top_up, false).is_ok();
    Ok(visitor.answer(&Details {
        shell: visitor.shell(&title, Section::AllTopUps),
        back: ("All top-ups".to_owned(), PATH.to_owned()),
        changes: may_reject
            .then(|| rejection(&visitor, &top_up))
            .into_iter()
            .collect(),
        figures: figures(&top_up),
        facts: facts(&top_up),
        sections: acceptance(&top_up).into_iter().collect(),
        refresh: None,
    }))
}

fn rejection(visitor: &Visitor, top_up: &TopUp) -> console::parts::Confirm {
    let text = format!(
        "Nothing is credited. The money stays with {}: pay it back there. A rejected payment can \
         still be accepted.",
        provider(&top_up.provider)
    );
    dangerous(confirm(
        visitor,
        ("reject", "Reject"),
        ("Reject the payment?", &text),
        &format!("{}/reject", path(top_up.id)),
        &[],
    ))
}

/// Returns the form that credits a mismatch, or a payment that was rejected before.
fn acceptance(top_up: &TopUp) -> Option<Part> {
    check_decision(top_up, true).ok()?;
    let amount = top_up.price.amount;
    let value = if amount.is_zero() {
        String::new()
    } else {
        amount.to_string()
    };
    let amount = Field::text("amount", "Amount to credit in naira")
        .hint("VAT is on top of it. Another amount than that of the top-up has no bonus.")
        .value(value)
        .inputmode("decimal")
        .autocomplete("off");
    let account = Field::text("account", "Account id")
        .hint("The payment names no account: name the one to credit.")
        .inputmode("numeric")
        .autocomplete("off");
    let account = top_up.account.is_none().then_some(account);
    let lead = "Compare the payment with the dashboard of the provider first. The credit is made \
                once, and the audit names you.";
    let form = SmallForm {
        href: format!("{}/accept", path(top_up.id)),
        fields: account.into_iter().chain([amount]).collect(),
        action: "Accept and credit".to_owned(),
    };
    Some(Part::form("Accept", lead, form))
}

fn figures(top_up: &TopUp) -> Vec<Figure> {
    let paid = top_up.received.as_ref();
    let tone = match top_up.state {
        TopUpState::Mismatch => Tone::Warning,
        _ => Tone::Plain,
    };
    let reason = top_up.mismatch.map_or("", reason);
    vec![
        Figure::new("Expected", naira(top_up.total())).note(Tone::Plain, "amount and VAT"),
        Figure::new("Received", paid.map_or_else(dash, received)).note(tone, reason),
        Figure::new("Amount", naira(top_up.price.amount)),
        Figure::new("VAT", naira(top_up.price.vat)),
        Figure::new("Bonus", naira(top_up.price.bonus)),
    ]
}

const fn reason(mismatch: Mismatch) -> &'static str {
    match mismatch {
        Mismatch::Amount => "another amount was paid",
        Mismatch::Currency => "another currency was paid",
        Mismatch::Reference => "the provider confirmed another reference",
        Mismatch::Unknown => "the reference is not ours",
        Mismatch::Credited => "an operator credited this reference before",
    }
}

fn facts(top_up: &TopUp) -> Vec<(String, String)> {
    let account = top_up.account;
    let account = account.map_or_else(|| "Unknown".to_owned(), |id| id.to_string());
    let payment = top_up.received.as_ref();
    known([
        ("Account", Some(account)),
        ("State", Some(state(top_up.state).text)),
        ("Provider", Some(provider(&top_up.provider))),
        ("Reference", Some(top_up.reference.clone())),
        (
            "Payment at the provider",
            payment.map(|payment| payment.payment_id.clone()),
        ),
        (
            "Credited to",
            Some(component(top_up.price.component).to_owned()),
        ),
        ("Made", Some(time(top_up.created_at_ms))),
        ("Paid", top_up.paid_at_ms.map(time)),
        ("Decided", top_up.decided_at_ms.map(time)),
        (
            "Receipt number",
            top_up.receipt_number.map(|number| number.to_string()),
        ),
    ])
}

/// `POST /operator/top-ups/{id}/accept`.
pub(super) async fn accept(visitor: Visitor, fields: Form) -> Answered {
    let id = id(&visitor)?;
    let acceptance = match given(&fields) {
        Ok(acceptance) => acceptance,
        Err(text) => return Ok(visitor.refused(&path(id), text)),
    };
    let accepted = visitor.operations().top_ups().accept(id, acceptance).await;
    let text = accepted.as_ref().map_or_else(
        |_| String::new(),
        |top_up| {
            let credit = naira(top_up.price.amount + top_up.price.bonus);
            let number = top_up.receipt_number.unwrap_or_default();
            format!("{credit} was credited, with receipt {number}.")
        },
    );
    visitor.after(accepted, &path(id), &text)
}

/// Reads the form of an acceptance.
fn given(fields: &Form) -> Result<Acceptance, &'static str> {
    let account = fields
        .find("account")
        .map(|id| id.trim().parse::<AccountId>());
    let account = account
        .transpose()
        .map_err(|_| "Give the id of the account, which its page shows.")?;
    let amount = fields
        .find("amount")
        .map(|text| text.trim().parse::<Money>());
    let amount = amount
        .transpose()
        .map_err(|_| "Give the amount in naira, such as 1000.00.")?;
    Ok(Acceptance { account, amount })
}

/// `POST /operator/top-ups/{id}/reject`.
pub(super) async fn reject(visitor: Visitor, _fields: Form) -> Answered {
    let id = id(&visitor)?;
    let rejected = visitor.operations().top_ups().reject(id).await;
    let text = "The payment was rejected. Nothing was credited.";
    visitor.after(rejected, &path(id), text)
}
