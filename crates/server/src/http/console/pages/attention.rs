//! Lists of what operators look after: recipients in doubt, and dead callbacks of all accounts.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::path;
use super::lists::{confirm, request};
use super::shared::pager;
use console::Section;
use console::figures::{count, counted};
use console::parts::{Cell, Column, Empty, Table};
use console::screens::Listing;
use engine::operators::{DeadOrigin, Replay};

const DEAD: &str = "/operator/callbacks";
const REPLAY: &str = "/operator/callbacks/replay";

/// `GET /operator/doubts`.
pub(super) async fn doubts(visitor: Visitor) -> Answered {
    let doubtful = visitor.engine().installation().doubtful().await?;
    let rows = doubtful.iter().map(|one| {
        vec![
            Cell::Code(one.message.to_string()),
            Cell::Code(one.recipient.to_string()),
            Cell::text(&one.carrier),
            Cell::Time(one.submitted_at_ms),
        ]
    });
    let table = Table {
        label: "Recipients in doubt".to_owned(),
        columns: vec![
            Column::text("Message"),
            Column::text("Recipient"),
            Column::text("Carrier"),
            Column::number("Submitted"),
        ],
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "Nobody is in doubt",
        "A recipient is in doubt if its connection was lost before the response.",
    );
    let mut listing = Listing::new(visitor.shell("In doubt", Section::Doubts), table, empty);
    listing.lead = String::from(
        "A receipt settles them, or the rule of their gateway. The list has at most 100.",
    );
    Ok(visitor.answer(&listing))
}

/// `GET /operator/callbacks`.
pub(super) async fn dead(visitor: Visitor) -> Answered {
    let callbacks = visitor.operations().callbacks();
    let page = callbacks.dead_origins(&request(&visitor)).await?;
    let rows = page.items.iter().enumerate();
    let table = Table {
        label: "Dead callbacks".to_owned(),
        columns: vec![
            Column::text("Receiver"),
            Column::text("Account"),
            Column::text("Environment").wide(),
            Column::number("Callbacks"),
            Column::number("Oldest").wide(),
            Column::number(""),
        ],
        rows: rows.map(|(index, one)| row(&visitor, index, one)).collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "No dead callbacks",
        "A callback is dead when its receiver has refused all attempts.",
    );
    let shell = visitor.shell("Dead callbacks", Section::DeadCallbacks);
    let mut listing = Listing::new(shell, table, empty);
    listing.pager = pager(DEAD, visitor.query(), &[], &page, "receiver");
    Ok(visitor.answer(&listing))
}

fn row(visitor: &Visitor, index: usize, one: &DeadOrigin) -> Vec<Cell> {
    let account = one.account.to_string();
    let callbacks = counted(one.callbacks.unsigned_abs(), "callback");
    let replay = confirm(
        visitor,
        (&format!("replay-{index}"), "Replay"),
        (
            &format!("Replay {callbacks}?"),
            "Each is sent again, with a new series of attempts.",
        ),
        REPLAY,
        &[("account", &account), ("origin", &one.origin)],
    );
    vec![
        Cell::text(&one.origin),
        Cell::link(account.clone(), path(one.account)),
        Cell::text(one.environment.as_str()),
        Cell::text(count(one.callbacks.unsigned_abs())),
        Cell::Time(one.oldest_ms),
        Cell::Changes(vec![replay]),
    ]
}

/// `POST /operator/callbacks/replay`.
pub(super) async fn replay(visitor: Visitor, fields: Form) -> Answered {
    let which = Replay {
        account: fields.get("account").parse().ok(),
        origin: fields.find("origin").map(str::to_owned),
        message: None,
    };
    if which.account.is_none() || which.origin.is_none() {
        return Ok(visitor.refused(DEAD, "Choose a receiver."));
    }
    let replayed = visitor.operations().callbacks().replay(&which).await?;
    let text = format!("{} queued again.", counted(replayed, "callback"));
    Ok(visitor.done(DEAD, &text))
}
