//! The numbers that opted out of the messages of the account.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, request};
use super::shared::pager;
use console::Section;
use console::parts::{Cell, Column, Empty, Field, Table};
use console::screens::{Form as FormScreen, Listing};
use domain::opt_out::{OptOut, OptOutFields};
use domain::user::role::Permission::ManageContacts;

const PATH: &str = "/console/opt-outs";
const NEW: &str = "/console/opt-outs/new";

/// `GET /console/opt-outs`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let opt_outs = visitor.operations().opt_outs();
    let found = opt_outs
        .list(visitor.account()?, &request(&visitor))
        .await?;
    let may_change = visitor.may(ManageContacts);
    let rows = found.items.iter().map(|one| row(&visitor, one, may_change));
    let table = Table {
        label: "Opt-outs".to_owned(),
        columns: vec![
            Column::text("Number"),
            Column::text("Sender ID"),
            Column::text("Reason").wide(),
            Column::number("Since"),
            Column::number(""),
        ],
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        "Nobody has opted out",
        "A subscriber who writes STOP to a number of yours appears here.",
    );
    let mut actions = Vec::new();
    if may_change {
        empty = empty.action("Add a number", NEW.to_owned());
        actions.push(("Add a number".to_owned(), NEW.to_owned()));
    }
    let lead = "These numbers are left out of your promotional messages, and are not charged. The \
                interface takes a CSV of them, and exports them.";
    let shell = visitor.shell("Opt-outs", Section::OptOuts);
    let screen = Listing {
        lead: lead.to_owned(),
        actions,
        pager: pager(PATH, visitor.query(), &[], &found, "opt-out"),
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(visitor: &Visitor, one: &OptOut, may_change: bool) -> Vec<Cell> {
    let number = one.recipient.to_string();
    let remove = confirm(
        visitor,
        (&format!("remove-{}", one.id), "Remove"),
        (
            &format!("Send to {number} again?"),
            "All opt-outs of the number are removed. Do so if the subscriber asked for it.",
        ),
        &format!("{PATH}/{number}/remove"),
        &[],
    );
    let reason = one.reason.as_deref().unwrap_or_default();
    vec![
        Cell::text(number),
        Cell::text(one.sender.as_deref().unwrap_or("All")),
        Cell::text(reason),
        Cell::Time(one.created_at_ms),
        Cell::Changes(may_change.then_some(remove).into_iter().collect()),
    ]
}

/// `GET /console/opt-outs/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_form(&visitor, &Form::default(), None)))
}

fn new_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Add an opt-out", Section::OptOuts),
        lead: "The number gets no promotional message of yours any more.".to_owned(),
        fields: vec![
            Field::text("recipient", "Number")
                .value(fields.get("recipient"))
                .inputmode("tel")
                .autocomplete("off"),
            Field::text("sender", "Sender ID")
                .hint("Only messages with this sender ID are left out. Without one, all are.")
                .optional()
                .value(fields.get("sender"))
                .autocomplete("off"),
            Field::text("reason", "Reason")
                .hint("For your own use, at most 100 characters.")
                .optional()
                .value(fields.get("reason"))
                .autocomplete("off"),
        ],
        error,
        href: PATH.to_owned(),
        action: "Add number".to_owned(),
        back: PATH.to_owned(),
    }
}

/// `POST /console/opt-outs`.
pub(super) async fn add(visitor: Visitor, fields: Form) -> Answered {
    let given = |name: &str| fields.find(name).map(str::to_owned);
    let opt_out = OptOutFields {
        recipient: given("recipient"),
        sender: given("sender"),
        reason: given("reason"),
    };
    let opt_outs = visitor.operations().opt_outs();
    match opt_outs.add(visitor.account()?, &opt_out).await {
        Ok(_) => Ok(visitor.done(PATH, "The number was added.")),
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            let screen = new_form(&visitor, &fields, Some(text));
            Ok(visitor.answer_with(status, &screen))
        }
    }
}

/// `POST /console/opt-outs/{id}/remove`. The id is the number.
pub(super) async fn remove(visitor: Visitor, _fields: Form) -> Answered {
    let (opt_outs, account) = (visitor.operations().opt_outs(), visitor.account()?);
    let removed = opt_outs.remove(account, visitor.param("id")).await;
    visitor.after(removed, PATH, "The number gets your messages again.")
}
