//! The alerts of the account about a low balance.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::confirm;
use super::send_parts::admit;
use super::shared::{page_fields, page_or_reason, pager, queries};
use console::Section;
use console::figures::naira;
use console::parts::{Badge, Cell, Column, Empty, Field, Kind, Table, Tone};
use console::screens::{Form as FormScreen, Listing};
use domain::Environment;
use domain::alert::{Alert, AlertFields, AlertTarget};
use domain::user::role::Permission::ManageMoney;
use engine::{Purpose, alerts};

const PATH: &str = "/console/alerts";
const NEW: &str = "/console/alerts/new";
const OF_LIVE: &str = "Alerts are about the live wallet. Switch to Live to see and change them.";

/// `GET /console/alerts`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let (queries, query) = (queries(&visitor)?, visitor.query());
    let found = queries.alerts(page_fields(query)).await;
    let (found, reason) = page_or_reason(found)?;
    let is_live = visitor.environment() == Environment::Live;
    let may_change = is_live && visitor.may(ManageMoney);
    let rows = found.items.iter().map(|one| row(&visitor, one, may_change));
    let table = Table {
        label: "Alerts".to_owned(),
        columns: vec![
            Column::number("Threshold"),
            Column::text("Receiver"),
            Column::text("Balance").wide(),
            Column::number("Last sent").wide(),
            Column::number(""),
        ],
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        reason.as_deref().unwrap_or("No alerts yet"),
        "An alert tells you once when the balance falls below an amount, and again after it was \
         above.",
    );
    let mut actions = Vec::new();
    if may_change {
        empty = empty.action("Add an alert", NEW);
        actions.push(("Add an alert".to_owned(), NEW.to_owned()));
    }
    let lead = if is_live {
        "Each alert tells one receiver once when the balance of all components falls below its \
         threshold."
    } else {
        OF_LIVE
    };
    let shell = visitor.shell("Alerts", Section::Alerts);
    let screen = Listing {
        lead: lead.to_owned(),
        actions,
        pager: pager(PATH, query, &[], &found, "alert"),
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(visitor: &Visitor, alert: &Alert, may_change: bool) -> Vec<Cell> {
    let (AlertTarget::Url(receiver) | AlertTarget::Email(receiver)) = &alert.target;
    let balance = if alert.is_below {
        Badge::new(Tone::Warning, "Below")
    } else {
        Badge::new(Tone::Good, "Above")
    };
    let remove = confirm(
        visitor,
        (&format!("remove-{}", alert.id), "Remove"),
        (
            &format!("Remove the alert at {}?", naira(alert.threshold)),
            &format!("{receiver} gets no further alert."),
        ),
        &format!("{PATH}/{}/remove", alert.id),
        &[],
    );
    let told = alert.told_at_ms;
    vec![
        Cell::text(naira(alert.threshold)),
        Cell::text(receiver),
        Cell::Status(balance),
        told.map_or_else(|| Cell::text("Never"), Cell::Time),
        Cell::Changes(may_change.then_some(remove).into_iter().collect()),
    ]
}

/// `GET /console/alerts/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_form(&visitor, &Form::default(), None)))
}

fn new_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Add an alert", Section::Alerts),
        lead: "Give the receiver as an e-mail address or as a URL.".to_owned(),
        fields: vec![
            Field::text("threshold", "Threshold in naira")
                .hint("Digits and a point, such as 5000.00.")
                .value(fields.get("threshold"))
                .inputmode("decimal")
                .autocomplete("off"),
            Field::new(Kind::Input("email"), "email", "E-mail address")
                .optional()
                .value(fields.get("email"))
                .autocomplete("email"),
            Field::new(Kind::Input("url"), "url", "URL")
                .hint("It is called like a callback, and signed with your secret of callbacks.")
                .optional()
                .value(fields.get("url"))
                .autocomplete("off"),
        ],
        error,
        href: PATH.to_owned(),
        action: "Add alert".to_owned(),
        back: PATH.to_owned(),
    }
}

/// `POST /console/alerts`.
pub(super) async fn add(visitor: Visitor, fields: Form) -> Answered {
    let given = |name: &str| fields.find(name).map(str::to_owned);
    let alert = AlertFields {
        threshold: given("threshold"),
        url: given("url"),
        email: given("email"),
    };
    let added = async {
        live(&visitor)?;
        let admission = admit(&visitor, Purpose::Read).await?;
        let added = alerts::add_alert(&admission, &alert, None).await;
        added.map_err(Failure::from)
    };
    match added.await {
        Ok(_) => Ok(visitor.done(PATH, "The alert was added.")),
        Err(failure) => {
            let (status, text) = failure.shown()?;
            let screen = new_form(&visitor, &fields, Some(text));
            Ok(visitor.answer_with(status, &screen))
        }
    }
}

/// `POST /console/alerts/{id}/remove`.
pub(super) async fn remove(visitor: Visitor, _fields: Form) -> Answered {
    live(&visitor)?;
    let admission = admit(&visitor, Purpose::Read).await?;
    let removed = alerts::remove_alert(&admission, visitor.param("id"), None).await;
    visitor.after(removed, PATH, "The alert was removed.")
}

/// Refuses a change in the sandbox, which has no alerts.
fn live(visitor: &Visitor) -> Result<(), Failure> {
    match visitor.environment() {
        Environment::Live => Ok(()),
        Environment::Sandbox => Err(Failure::Refused(OF_LIVE.to_owned())),
    }
}
