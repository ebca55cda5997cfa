//! The sender IDs of the account, and the request for one.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::request;
use super::shared::pager;
use console::Section;
use console::parts::{Badge, Cell, Column, Empty, Field, Table};
use console::screens::{Form as FormScreen, Listing};
use domain::SenderStatus;
use domain::sender_request::SenderFields;
use domain::user::role::Permission::ManageSenders;

const PATH: &str = "/console/sender-ids";
const NEW: &str = "/console/sender-ids/new";

/// `GET /console/sender-ids`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let senders = visitor.operations().senders();
    let page = senders
        .list(Some(visitor.account()?), &request(&visitor))
        .await?;
    let rows = page.items.iter().map(|one| {
        let sender = &one.sender;
        vec![
            Cell::text(&sender.name),
            Cell::Status(Badge::of_sender(sender.status)),
            Cell::text(sender.rejection_reason.as_deref().unwrap_or("–")),
            Cell::text(&sender.purpose),
            Cell::Time(one.created_at_ms),
        ]
    });
    let table = Table {
        label: "Sender IDs".to_owned(),
        columns: vec![
            Column::text("Sender ID"),
            Column::text("Status"),
            Column::text("Reason").wide(),
            Column::text("Purpose").wide(),
            Column::number("Requested"),
        ],
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        "No sender IDs yet",
        "Recipients see the sender ID as the author of a message.",
    );
    let shell = visitor.shell("Sender IDs", Section::SenderIds);
    let mut actions = Vec::new();
    if visitor.may(ManageSenders) {
        empty = empty.action("Request a sender ID", NEW);
        actions.push(("Request a sender ID".to_owned(), NEW.to_owned()));
    }
    let mut listing = Listing::new(shell, table, empty);
    listing.actions = actions;
    listing.pager = pager(PATH, visitor.query(), &[], &page, "sender ID");
    Ok(visitor.answer(&listing))
}

/// `GET /console/sender-ids/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_form(&visitor, &Form::default(), None)))
}

/// `POST /console/sender-ids`.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let given = SenderFields {
        sender_id: fields.find("sender_id").map(str::to_owned),
        purpose: fields.find("purpose").map(str::to_owned),
    };
    let (senders, account) = (visitor.operations().senders(), visitor.account()?);
    match senders.request(account, &given).await {
        Ok(sender) => Ok(visitor.done(PATH, &outcome(&sender.name, sender.status))),
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            Ok(visitor.answer_with(status, &new_form(&visitor, &fields, Some(text))))
        }
    }
}

/// Returns the effect of a request: a sender ID that the account has stays as it is.
fn outcome(name: &str, status: SenderStatus) -> String {
    match status {
        SenderStatus::Pending => format!("{name} waits for the decision of the operator."),
        SenderStatus::Approved => format!("{name} is approved already."),
        SenderStatus::Suspended => format!("{name} is suspended. Ask the operator about it."),
        SenderStatus::Rejected => format!("{name} stays rejected."),
    }
}

fn new_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Request a sender ID", Section::SenderIds),
        lead: "The operator decides on each sender ID. Until then no message has it.".to_owned(),
        fields: vec![
            Field::text("sender_id", "Sender ID")
                .hint("3 to 11 letters, digits, spaces and hyphens, with at least one letter.")
                .value(fields.get("sender_id"))
                .autocomplete("off"),
            Field::text("purpose", "Purpose")
                .hint("The texts that carry it, such as receipts of a shop.")
                .value(fields.get("purpose"))
                .autocomplete("off"),
        ],
        error,
        href: PATH.to_owned(),
        action: "Request sender ID".to_owned(),
        back: PATH.to_owned(),
    }
}
