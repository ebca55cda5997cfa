//! SMPP users, and the answers to commands of subscribers.

use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{Badge, Cell, Choice, Column, Confirm, Empty, Field, Kind, Table, Tone};
use crate::screens::{Details, Form, Listing, Part, SmallForm};
use crate::{Section, html};

const PATH: &str = "/console/smpp-users";

pub(super) fn all() -> Vec<(&'static str, String)> {
    let users = vec![
        user("og7mk2x4pa", Badge::new(Tone::Good, "Bound"), "2", "All"),
        user("og3pa7mk2x", Badge::new(Tone::Bad, "Revoked"), "0", HOSTILE),
    ];
    let mut made = listing(users.clone());
    made.secret = Some((
        "The password of og7mk2x4pa".to_owned(),
        "4nT0kEn8".to_owned(),
    ));
    vec![
        ("smpp-users", html(&listing(users))),
        ("smpp-users-made", html(&made)),
        ("smpp-users-empty", html(&listing(Vec::new()))),
        ("smpp-user-new", html(&form())),
        ("answers", html(&answers())),
    ]
}

fn listing(rows: Vec<Vec<Cell>>) -> Listing {
    let table = Table {
        label: "SMPP users".to_owned(),
        columns: vec![
            Column::text("System id"),
            Column::text("State"),
            Column::number("Connections"),
            Column::text("Limits").wide(),
            Column::text("Allowed addresses").wide(),
            Column::text("Gateway").wide(),
            Column::number("Created").wide(),
            Column::number(""),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let create = ("Create an SMPP user", "/console/smpp-users/new");
    let empty = Empty::new(
        "No SMPP users yet",
        "A program that speaks SMPP binds with an SMPP user, in place of a token.",
    )
    .action(create.0, create.1);
    Listing {
        lead: "Bind to sms.example.ng, port 3550, with TLS, or to sms.example.ng, port 2776, \
               without. Without TLS the password goes over the network as it is."
            .to_owned(),
        actions: vec![(create.0.to_owned(), create.1.to_owned())],
        ..Listing::new(shell("SMPP users", Section::SmppUsers), table, empty)
    }
}

fn user(id: &str, state: Badge, bound: &str, allowed: &str) -> Vec<Cell> {
    let revoke = Confirm {
        id: format!("revoke-{id}"),
        action: "Revoke".to_owned(),
        title: format!("Revoke the SMPP user {id}?"),
        text: "Its connections are unbound within a second.".to_owned(),
        href: format!("{PATH}/{id}/revoke"),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: true,
    };
    vec![
        Cell::Code(id.to_owned()),
        Cell::Status(state),
        Cell::text(bound),
        Cell::text("4 connections, 100 a second, window 100"),
        Cell::text(allowed),
        Cell::text("direct-refund"),
        Cell::text("29 Nov 2026"),
        Cell::Changes(vec![revoke]),
    ]
}

fn form() -> Form {
    let number = |name, label| Field::new(Kind::Input("number"), name, label).optional();
    let ticked = |name, label| Field::new(Kind::Checkbox, name, label).optional();
    let gateways = [
        Choice::new("direct-refund", "Direct, failed ones are refunded"),
        Choice::new("otp", "One-time passwords"),
    ];
    Form {
        shell: shell("Create an SMPP user", Section::SmppUsers),
        lead: "A program binds with the system id and the password. Both are made for you, and \
               the password is shown once."
            .to_owned(),
        fields: vec![
            number("binds", "Connections").hint("At a time, to each node. 1 to 4."),
            number("per_second", "Messages a second").value("500"),
            number("window", "Window"),
            Field::new(Kind::Lines(3), "allow", "Allowed addresses").optional(),
            Field::new(Kind::Select(gateways.to_vec()), "gateway", "Gateway"),
            ticked("sandbox", "Simulate its messages").hint("Nothing is delivered or charged."),
            ticked("latin_1", "Latin 1").value("yes"),
        ],
        error: Some("`per_second` must be a number from 1 to 100.".to_owned()),
        href: PATH.to_owned(),
        action: "Create SMPP user".to_owned(),
        back: PATH.to_owned(),
    }
}

fn answers() -> Details {
    let texts = [
        (
            "stop",
            "To STOP",
            "You get no more texts of Kano Fresh Foods.",
        ),
        ("start", "To START", ""),
        ("help", "To HELP", HOSTILE),
    ];
    let facts = texts.map(|(_, name, text)| {
        let text = if text.is_empty() { "No answer" } else { text };
        (name.trim_start_matches("To ").to_owned(), text.to_owned())
    });
    let fields = texts.map(|(name, label, text)| {
        let field = Field::new(Kind::Lines(3), name, label).optional();
        field.value(text)
    });
    Details {
        shell: shell("Answers", Section::Inbound),
        back: ("Inbound messages".to_owned(), "/console/inbound".to_owned()),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: facts.to_vec(),
        sections: vec![Part {
            title: "Change the answers".to_owned(),
            lead: "A subscriber who writes one of these words to a number of yours gets the text."
                .to_owned(),
            table: None,
            empty: None,
            form: Some(SmallForm {
                href: "/console/inbound/answers".to_owned(),
                fields: fields.to_vec(),
                action: "Save answers".to_owned(),
            }),
        }],
        refresh: None,
    }
}
