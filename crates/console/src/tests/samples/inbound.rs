//! Inbound messages and opt-outs, with content and empty.

use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{Cell, Column, Confirm, Empty, Field, Pager, Table};
use crate::screens::Listing;
use crate::{Section, html};

pub(super) fn all() -> Vec<(&'static str, String)> {
    let messages = vec![
        message("2348031234567", "STOP", "32811"),
        message("2348021234567", HOSTILE, "32811, promo"),
    ];
    let opt_outs = vec![
        opt_out("2348031234567", "All", "STOP"),
        opt_out("2348021234567", "KANOFRESH", HOSTILE),
    ];
    vec![
        ("inbound", html(&inbound(messages))),
        ("inbound-empty", html(&inbound(Vec::new()))),
        ("opt-outs", html(&opted_out(opt_outs))),
        ("opt-outs-empty", html(&opted_out(Vec::new()))),
    ]
}

fn inbound(rows: Vec<Vec<Cell>>) -> Listing {
    let next = (!rows.is_empty()).then(|| "/console/inbound?cursor=4nT0kEn".to_owned());
    let table = Table {
        label: "Inbound messages".to_owned(),
        columns: vec![
            Column::text("From"),
            Column::text("Message"),
            Column::text("To").wide(),
            Column::number("Time"),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let empty = Empty::new(
        "No inbound messages",
        "A text that a subscriber sends to a number of yours appears here.",
    );
    let filter = |name: &'static str, label: &'static str| Field::text(name, label).optional();
    Listing {
        filters: vec![
            filter("number", "To").inputmode("tel"),
            filter("sender", "From").inputmode("tel"),
            filter("keyword", "Keyword"),
        ],
        pager: Pager {
            first: None,
            next,
            note: "2 messages".to_owned(),
        },
        ..Listing::new(shell("Inbound messages", Section::Inbound), table, empty)
    }
}

fn message(sender: &str, text: &str, number: &str) -> Vec<Cell> {
    let mut cells = [sender, text, number].map(Cell::text).to_vec();
    cells.push(Cell::Time(NOW_MS - 90_000));
    cells
}

fn opted_out(rows: Vec<Vec<Cell>>) -> Listing {
    let table = Table {
        label: "Opt-outs".to_owned(),
        columns: vec![
            Column::text("Number"),
            Column::text("Sender ID"),
            Column::text("Reason").wide(),
            Column::number("Since"),
            Column::number(""),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let add = ("Add a number", "/console/opt-outs/new");
    let empty = Empty::new(
        "Nobody has opted out",
        "A subscriber who writes STOP to a number of yours appears here.",
    )
    .action(add.0, add.1);
    Listing {
        lead: "These numbers are left out of your promotional messages, and are not charged."
            .to_owned(),
        actions: vec![(add.0.to_owned(), add.1.to_owned())],
        ..Listing::new(shell("Opt-outs", Section::OptOuts), table, empty)
    }
}

fn opt_out(number: &str, sender: &str, reason: &str) -> Vec<Cell> {
    let remove = Confirm {
        id: format!("remove-{number}"),
        action: "Remove".to_owned(),
        title: format!("Send to {number} again?"),
        text: "All opt-outs of the number are removed.".to_owned(),
        href: format!("/console/opt-outs/{number}/remove"),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: false,
    };
    let mut cells = [number, sender, reason].map(Cell::text).to_vec();
    cells.push(Cell::Time(NOW_MS - 90_000));
    cells.push(Cell::Changes(vec![remove]));
    cells
}
