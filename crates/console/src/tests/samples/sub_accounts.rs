//! Sub-accounts, with content and empty.

use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{
    Badge, Cell, Choice, Column, Confirm, Empty, Field, Figure, Kind, Pager, Table, Tone,
};
use crate::screens::{Details, Form, Listing, Part, SmallForm};
use crate::{Section, html};

const PATH: &str = "/console/sub-accounts";

pub(super) fn all() -> Vec<(&'static str, String)> {
    let rows = vec![
        row(
            "Ada Foods",
            "ada@example.ng",
            Badge::new(Tone::Good, "Active"),
        ),
        row(HOSTILE, HOSTILE, Badge::new(Tone::Bad, "Disabled")),
    ];
    let mut made = listing(rows.clone());
    made.secret = Some((
        "The first token of “Ada Foods”".to_owned(),
        "ogl_4nT0kEn".to_owned(),
    ));
    let mut read = one();
    read.changes.clear();
    read.sections.truncate(2);
    for section in &mut read.sections {
        section.form = None;
    }
    vec![
        ("sub-accounts", html(&listing(rows))),
        ("sub-accounts-made", html(&made)),
        ("sub-accounts-empty", html(&listing(Vec::new()))),
        ("sub-account-new", html(&form())),
        ("sub-account", html(&one())),
        ("sub-account-viewer", html(&read)),
    ]
}

fn listing(rows: Vec<Vec<Cell>>) -> Listing {
    let next = (!rows.is_empty()).then(|| format!("{PATH}?cursor=4nT0kEn"));
    let table = Table {
        label: "Sub-accounts".to_owned(),
        columns: vec![
            Column::text("Name"),
            Column::text("Status"),
            Column::number("Daily limit").wide(),
            Column::number("Balance"),
            Column::number("Created").wide(),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let create = ("Create a sub-account", "/console/sub-accounts/new");
    let empty = Empty::new(
        "No sub-accounts yet",
        "A sub-account sends with a wallet of its own, at prices that you set.",
    )
    .action(create.0, create.1);
    Listing {
        lead: "A sub-account has a wallet, tokens and sender IDs of its own. It pays the price \
               that you set, and you get the difference to yours."
            .to_owned(),
        actions: vec![(create.0.to_owned(), create.1.to_owned())],
        pager: Pager {
            first: None,
            next,
            note: "2 sub-accounts".to_owned(),
        },
        ..Listing::new(shell("Sub-accounts", Section::SubAccounts), table, empty)
    }
}

fn row(name: &str, email: &str, status: Badge) -> Vec<Cell> {
    vec![
        Cell::Link {
            name: name.to_owned(),
            href: format!("{PATH}/1882399170363400"),
            note: email.to_owned(),
        },
        Cell::Status(status),
        Cell::text("₦50,000.00"),
        Cell::text("₦12,480.50"),
        Cell::text("29 Nov 2026, 17:06:42"),
    ]
}

fn form() -> Form {
    Form {
        shell: shell("Create a sub-account", Section::SubAccounts),
        lead: "It gets a wallet of its own, which is empty, and a token, which is shown once."
            .to_owned(),
        fields: vec![
            Field::text("name", "Name")
                .hint("The name of the business or person.")
                .value("Ada Foods"),
            Field::new(Kind::Input("email"), "email", "E-mail address").value("ada"),
        ],
        error: Some("`email` is not an e-mail address.".to_owned()),
        href: PATH.to_owned(),
        action: "Create sub-account".to_owned(),
        back: PATH.to_owned(),
    }
}

fn one() -> Details {
    let figures = [("Spent", "₦9,120.00"), ("Your margin", "₦1,824.00")];
    let mut all = vec![
        Figure::new("Balance", "₦12,480.50"),
        Figure::new("Messages", "86")
            .note(Tone::Plain, "Show them")
            .href(format!("{PATH}/1882399170363400/messages")),
        Figure::new("Delivered", "1,204").note(Tone::Plain, "12 failed"),
    ];
    all.extend(figures.map(|(label, value)| Figure::new(label, value)));
    let facts = [
        ("Id", "1882399170363400"),
        ("E-mail", "ada@example.ng"),
        ("Status", "Active"),
        ("Daily limit", "₦50,000.00"),
        ("Created", "29 Nov 2026"),
        ("Usage of", "The last 30 days"),
    ];
    Details {
        shell: shell("Ada Foods", Section::SubAccounts),
        back: ("All sub-accounts".to_owned(), PATH.to_owned()),
        changes: vec![Confirm {
            id: "disabled".to_owned(),
            action: "Disable".to_owned(),
            title: "Disable Ada Foods?".to_owned(),
            text: "It does nothing then. Its queue waits until it is active.".to_owned(),
            href: format!("{PATH}/1882399170363400/status"),
            csrf_token: "4nT0kEn".to_owned(),
            hidden: vec![("status".to_owned(), "disabled".to_owned())],
            is_dangerous: true,
        }],
        figures: all,
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        sections: vec![used(), priced(), transfer()],
        refresh: None,
    }
}

fn table(label: &str, columns: Vec<Column>, rows: &[&[&str]]) -> Table {
    let rows = rows
        .iter()
        .map(|row| row.iter().copied().map(Cell::text).collect());
    Table {
        label: label.to_owned(),
        columns,
        rows: rows.collect(),
        now_ms: NOW_MS,
    }
}

fn used() -> Part {
    let columns = vec![
        Column::text("Gateway"),
        Column::number("Messages"),
        Column::number("Recipients").wide(),
        Column::number("Delivered").wide(),
        Column::number("Failed").wide(),
        Column::number("Spent"),
    ];
    let rows: [&[&str]; 2] = [
        &["direct-refund", "80", "1,210", "1,198", "12", "₦9,075.00"],
        &["otp", "6", "6", "6", "0", "₦45.00"],
    ];
    Part {
        title: "Usage".to_owned(),
        lead: String::new(),
        table: Some(table("Usage by gateway", columns, &rows)),
        empty: None,
        form: None,
    }
}

fn priced() -> Part {
    let columns = vec![
        Column::text("Gateway"),
        Column::number("Your price"),
        Column::number("Its price"),
        Column::number("Margin"),
    ];
    let rows: [&[&str]; 2] = [
        &[
            "direct-refund",
            "₦6.00 / ₦12.00",
            "₦7.50 / ₦15.00",
            "₦1.50 / ₦3.00",
        ],
        &["otp", "₦7.50 / ₦15.00", "Yours", "₦0.00 / ₦0.00"],
    ];
    let gateways = ["direct-refund", "otp"].map(|name| Choice::new(name, name));
    Part {
        title: "Prices".to_owned(),
        lead: "Each cell has the naira of a page / of a Unicode page. Your own price is the \
               highest of all networks, so the margin is the least that you get."
            .to_owned(),
        table: Some(table("Prices by gateway", columns, &rows)),
        empty: None,
        form: Some(SmallForm {
            href: format!("{PATH}/1882399170363400/price"),
            fields: vec![
                Field::new(Kind::Select(gateways.to_vec()), "gateway", "Gateway"),
                Field::text("price", "Naira a page").optional(),
                Field::text("unicode_price", "Naira a Unicode page").optional(),
            ],
            action: "Set price".to_owned(),
        }),
    }
}

fn transfer() -> Part {
    let directions = [
        Choice::new("to_sub", "To Ada Foods"),
        Choice::new("from_sub", "Back from Ada Foods"),
    ];
    Part {
        title: "Transfer".to_owned(),
        lead: "The money moves at once between your wallet and that of the sub-account.".to_owned(),
        table: None,
        empty: None,
        form: Some(SmallForm {
            href: format!("{PATH}/1882399170363400/transfer"),
            fields: vec![
                Field::new(Kind::Radio(directions.to_vec()), "direction", "Direction")
                    .value("to_sub"),
                Field::text("amount", "Amount in naira")
                    .hint("Digits and a point, such as 1000.00.")
                    .inputmode("decimal"),
                Field::text("reference", "Reference")
                    .hint("A reference counts for one transfer. You may write your own.")
                    .value("console-4nT0kEn4nT0kEn"),
            ],
            action: "Transfer".to_owned(),
        }),
    }
}
