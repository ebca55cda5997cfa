//! Lists, forms and the send, with content and empty.

use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{
    Badge, Cell, Choice, Column, Confirm, Empty, Field, Figure, Kind, Pager, Table, Tabs, Tone,
};
use crate::screens::{Counter, Details, Form, Listing, Part, Send, SmallForm};
use crate::{Section, Shell, html};
use domain::user::role::Role;

pub(super) fn all() -> Vec<(&'static str, String)> {
    let hostile = Cell::Link {
        name: HOSTILE.to_owned(),
        href: "/console/tokens/1".to_owned(),
        note: HOSTILE.to_owned(),
    };
    vec![
        ("tokens", html(&tokens(vec![token("Website", 7)]))),
        ("tokens-empty", html(&tokens(Vec::new()))),
        (
            "tokens-hostile",
            html(&tokens(vec![vec![hostile, Cell::text(HOSTILE)]])),
        ),
        ("form", html(&form())),
        ("audit", html(&audit())),
        ("verify", html(&verify(&VERIFIED))),
        ("verify-running", html(&verify(&RUNNING))),
        ("carriers", html(&carriers())),
        ("carrier", html(&carrier())),
        ("group", html(&group())),
        ("group-add", html(&addition())),
        ("details", html(&details())),
        ("send", html(&send(counter()))),
        ("send-empty", html(&send(Counter::empty()))),
    ]
}

fn tokens(rows: Vec<Vec<Cell>>) -> Listing {
    let table = Table {
        label: "API tokens".to_owned(),
        columns: vec![
            Column::text("Name"),
            Column::text("State"),
            Column::text("Scopes").wide(),
            Column::text("Expires"),
            Column::text("Allowed addresses").wide(),
            Column::number("A minute").wide(),
            Column::number("Last used"),
            Column::number("Created").wide(),
            Column::number(""),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let empty = Empty::new("No tokens yet", "Programs send messages with a token.")
        .action("Create a token", "/console/tokens/new");
    let mut listing = Listing::new(shell("API tokens", Section::Tokens), table, empty);
    listing.actions = vec![(
        "Create a token".to_owned(),
        "/console/tokens/new".to_owned(),
    )];
    listing.secret = Some(("The new token".to_owned(), "ogn_4nT0kEn".to_owned()));
    listing.tabs = Some(Tabs::new(
        "State",
        "Valid",
        &[("Valid", "?"), ("All", "?state=all")],
    ));
    listing
}

fn token(name: &str, id: u32) -> Vec<Cell> {
    vec![
        Cell::text(name),
        Cell::Status(Badge::new(Tone::Good, "Valid")),
        Cell::text("send, read"),
        Cell::text("31 Jan 2027"),
        Cell::text("203.0.113.0/24, 198.51.100.7"),
        Cell::text("60"),
        Cell::text("Never"),
        Cell::Time(NOW_MS - 90_000),
        Cell::Changes(vec![confirm(format!("revoke-{id}"))]),
    ]
}

fn confirm(id: String) -> Confirm {
    Confirm {
        id,
        action: "Revoke".to_owned(),
        title: "Revoke the token “Website”?".to_owned(),
        text: "Requests with it are refused from now on.".to_owned(),
        href: "/console/tokens/7/revoke".to_owned(),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: true,
    }
}

fn audit() -> Listing {
    let entry = |verb: &str, object: &str, change: &str| {
        vec![
            Cell::Time(NOW_MS - 90_000),
            Cell::text("user:ngozi@example.com"),
            Cell::Code(verb.to_owned()),
            Cell::link("1000017", "/operator/accounts/1000017"),
            Cell::text(object),
            Cell::Code(change.to_owned()),
        ]
    };
    let table = Table {
        label: "Audit log".to_owned(),
        columns: vec![
            Column::number("Time"),
            Column::text("Actor"),
            Column::text("Action"),
            Column::text("Account"),
            Column::text("Object").wide(),
            Column::text("Before and after").wide(),
        ],
        rows: vec![
            entry(
                "sender-id.approve",
                "KANOFRESH",
                "{\"status\":\"pending\"} → {\"status\":\"approved\"}",
            ),
            entry("wallet.credit", HOSTILE, HOSTILE),
        ],
        now_ms: NOW_MS,
    };
    let empty = Empty::new("No changes yet", "Each change is listed here.");
    let mut listing = Listing::new(operator("Audit log", Section::Audit), table, empty);
    listing.filters = vec![
        Field::text("account", "Account id")
            .optional()
            .inputmode("numeric"),
    ];
    listing.pager = Pager {
        first: None,
        next: Some("/operator/audit?cursor=4nT0kEn".to_owned()),
        note: "2 entries".to_owned(),
    };
    listing
}

fn carriers() -> Listing {
    let carrier = |name: &str, badge: Badge| {
        let texts = ["1,204", "12 s", "48.0 / s", "10 of 20", "0.3 %", "0"];
        let link = Cell::Link {
            name: name.to_owned(),
            href: format!("/operator/carriers/{name}"),
            note: "smsc.example.com:2775".to_owned(),
        };
        let cells = [link, Cell::Status(badge)].into_iter();
        cells.chain(texts.map(Cell::text)).collect()
    };
    let table = Table {
        label: "Carriers".to_owned(),
        columns: vec![
            Column::text("Carrier"),
            Column::text("State"),
            Column::number("Waiting"),
            Column::number("Oldest").wide(),
            Column::number("Rate").wide(),
            Column::number("In window").wide(),
            Column::number("Failures").wide(),
            Column::number("In doubt").wide(),
        ],
        rows: vec![
            carrier("mtn", Badge::new(Tone::Good, "2 of 2 bound")),
            carrier("airtel", Badge::new(Tone::Bad, "0 of 2 bound")),
            carrier("glo", Badge::new(Tone::Warning, "Paused")),
        ],
        now_ms: NOW_MS,
    };
    let empty = Empty::new("No carriers", "The configuration names them.");
    let mut listing = Listing::new(operator("Carriers", Section::Carriers), table, empty);
    listing.lead = String::from("Queues are those of all nodes.");
    listing.actions = vec![("Trace a number".to_owned(), "/operator/trace".to_owned())];
    listing.refresh = Some("/operator/carriers".to_owned());
    listing
}

fn group() -> Listing {
    let row = |number: &str, name: &str| {
        let remove = Confirm {
            id: format!("remove-{number}"),
            action: "Remove".to_owned(),
            title: format!("Remove {number}?"),
            text: "The number leaves this group alone.".to_owned(),
            href: "/console/contacts/7/contacts/remove".to_owned(),
            csrf_token: "t0k".to_owned(),
            hidden: vec![("number".to_owned(), number.to_owned())],
            is_dangerous: false,
        };
        vec![
            Cell::text(number),
            Cell::text(name),
            Cell::Changes(vec![remove]),
        ]
    };
    let table = Table {
        label: "Contacts".to_owned(),
        columns: vec![
            Column::text("Number"),
            Column::text("Name"),
            Column::text(""),
        ],
        rows: vec![
            row("2348031234567", "Ada Obi"),
            row("2348021234567", HOSTILE),
        ],
        now_ms: NOW_MS,
    };
    let empty = Empty::new("No contacts yet", "Numbers that are added appear here.");
    let shell = shell("Customers in Kano", Section::Contacts);
    let mut listing = Listing::new(shell, table, empty);
    listing.actions = [
        ("Send to the group", "/console/contacts/7/send"),
        ("Add contacts", "/console/contacts/7/add"),
        ("All groups", "/console/contacts"),
    ]
    .map(|(name, href)| (name.to_owned(), href.to_owned()))
    .to_vec();
    listing
}

fn addition() -> Details {
    let part = |title: &str, field: Field| Part {
        title: title.to_owned(),
        lead: "A group has at most 5,000 contacts.".to_owned(),
        table: None,
        empty: None,
        form: Some(SmallForm {
            href: "/console/contacts/7/add".to_owned(),
            fields: vec![field],
            action: "Add contacts".to_owned(),
        }),
    };
    let lines = Field::new(Kind::Lines(8), "contacts", "Numbers");
    let file = Field::new(Kind::File(".csv,.xlsx"), "file", "File");
    Details {
        shell: shell("Add to Customers in Kano", Section::Contacts),
        back: (
            "Customers in Kano".to_owned(),
            "/console/contacts/7".to_owned(),
        ),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: Vec::new(),
        sections: vec![
            part("Type or paste", lines.hint("One a line.")),
            part("From a file", file.hint("CSV or XLSX.")),
        ],
        refresh: None,
    }
}

fn carrier() -> Details {
    let change = |id: &str, action: &str| Confirm {
        id: id.to_owned(),
        action: action.to_owned(),
        title: format!("{action} mtn?"),
        text: "No node submits any more. Messages wait, or go to the next carrier.".to_owned(),
        href: format!("/operator/carriers/mtn/{id}"),
        csrf_token: "t0k".to_owned(),
        hidden: Vec::new(),
        is_dangerous: false,
    };
    let facts = [
        ("State", "Running"),
        ("Connections", "2 of 2 bound"),
        ("Address", "smsc.example.com:2775"),
    ];
    let limit = Field::new(Kind::Input("number"), "per-second", "Submits a second");
    Details {
        shell: operator("mtn", Section::Carriers),
        back: ("All carriers".to_owned(), "/operator/carriers".to_owned()),
        changes: vec![change("pause", "Pause"), change("drain", "Drain")],
        figures: vec![
            Figure::new("Waiting", "1,204").note(Tone::Plain, "0 held"),
            Figure::new("Rate", "48.0 / s").note(Tone::Plain, "at most 20 / s"),
        ],
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        refresh: Some("/operator/carriers/mtn".to_owned()),
        sections: vec![
            last_pdus(),
            Part {
                title: "Throttle".to_owned(),
                lead: "The most submits a second of all nodes. An empty field ends the throttle."
                    .to_owned(),
                table: None,
                empty: None,
                form: Some(SmallForm {
                    href: "/operator/carriers/mtn/throttle".to_owned(),
                    fields: vec![limit.optional().value("20")],
                    action: "Throttle".to_owned(),
                }),
            },
        ],
    }
}

/// The last PDUs of a carrier, as they are between a submit and its receipt.
const PDUS: [&str; 10] = [
    "11:31:14.806|Sent|deliver_sm_resp|48|ESME_ROK|–|–|–",
    "11:31:14.802|Received|deliver_sm|48|–|**********567|ShopLagos|122 octets",
    "11:31:13.411|Received|submit_sm_resp|1207|ESME_RINVDSTADR|–|–|–",
    "11:31:13.402|Sent|submit_sm|1207|–|ShopLagos|**********006|153 octets",
    "11:31:13.398|Received|submit_sm_resp|1206|ESME_ROK|–|–|–",
    "11:31:13.390|Sent|submit_sm|1206|–|ShopLagos|**********567|153 octets",
    "11:31:01.004|Received|enquire_link_resp|1205|ESME_ROK|–|–|–",
    "11:31:01.001|Sent|enquire_link|1205|–|–|–|–",
    "11:30:01.000|Received|bind_transceiver_resp|1|ESME_ROK|–|–|–",
    "11:30:00.998|Sent|bind_transceiver|1|–|–|–|–",
];

fn last_pdus() -> Part {
    let cell = |text: &str| Cell::Code(text.to_owned());
    let cells = PDUS.map(|row| row.split('|').map(cell).collect());
    Part {
        title: "Last PDUs".to_owned(),
        lead: "The newest 50 of this node. Numbers are masked, and texts are not kept.".to_owned(),
        table: Some(Table {
            label: "Last PDUs".to_owned(),
            columns: vec![
                Column::text("Time"),
                Column::text("Direction").wide(),
                Column::text("Command"),
                Column::number("Sequence").wide(),
                Column::text("Status"),
                Column::text("From").wide(),
                Column::text("To").wide(),
                Column::number("Text").wide(),
            ],
            rows: cells.to_vec(),
            now_ms: NOW_MS,
        }),
        empty: None,
        form: None,
    }
}

fn verify(rows: &[(&'static str, &'static str)]) -> Listing {
    let row = |(name, result): &(&str, &str)| vec![Cell::text(*name), Cell::text(*result)];
    let table = Table {
        label: "Verification".to_owned(),
        columns: vec![Column::text("Checked"), Column::number("Result")],
        rows: rows.iter().map(row).collect(),
        now_ms: NOW_MS,
    };
    let empty = Empty::new("Not verified yet", "Start a verification.");
    let mut listing = Listing::new(operator("Verify", Section::Verify), table, empty);
    listing.actions = vec![("Verify again".to_owned(), "/operator/verify/new".to_owned())];
    listing.refresh = Some("/operator/verify".to_owned());
    listing
}

const RUNNING: [(&str, &str); 3] = [
    ("Verification", "Running"),
    ("Checks", "12 of 34"),
    ("Duration", "31 s"),
];

const VERIFIED: [(&str, &str); 4] = [
    ("Verification", "1 invariant is violated"),
    ("Wallets", "1,204"),
    ("Ledger entries", "88,410,221"),
    (
        "the wallet of account 1882399170363392 is not the sum of its ledger entries",
        "Violated",
    ),
];

pub(super) fn operator(title: &str, section: Section) -> Shell {
    Shell {
        role: Role::Operator,
        account_name: "Installation".to_owned(),
        ..shell(title, section)
    }
}

fn form() -> Form {
    Form {
        shell: shell("Create a token", Section::Tokens),
        lead: "A program sends the token with each request.".to_owned(),
        fields: vec![
            Field::text("name", "Name").hint("The program that uses it."),
            Field::new(Kind::Checkbox, "scope_send", "Scope send")
                .hint("Sends, quotes and one-time passwords; cancel, pause, resume and reschedule.")
                .optional()
                .error(Some("Choose at least one scope.".to_owned())),
            Field::new(Kind::Checkbox, "scope_read", "Scope read")
                .hint("Every read: messages, reports, balance, usage and exports.")
                .optional()
                .value("yes"),
            Field::new(Kind::Input("date"), "expires", "Expires").optional(),
        ],
        error: Some("There are 20 tokens already. Revoke one first.".to_owned()),
        href: "/console/tokens".to_owned(),
        action: "Create token".to_owned(),
        back: "/console/tokens".to_owned(),
    }
}

fn details() -> Details {
    let table = Table {
        label: "Sender IDs".to_owned(),
        columns: vec![Column::text("Sender ID"), Column::text("Status")],
        rows: vec![vec![
            Cell::text("KANOFRESH"),
            Cell::Status(Badge::new(Tone::Waiting, "Pending")),
        ]],
        now_ms: NOW_MS,
    };
    Details {
        shell: shell("Kano Fresh Foods", Section::Overview),
        back: ("All accounts".to_owned(), "/operator/accounts".to_owned()),
        changes: vec![confirm("restrict".to_owned())],
        figures: vec![Figure::new("Balance", "₦41,310.50")],
        facts: vec![("E-mail".to_owned(), "amina@example.com".to_owned())],
        refresh: None,
        sections: vec![Part {
            title: "Sender IDs".to_owned(),
            lead: "Senders of this account.".to_owned(),
            table: Some(table),
            empty: None,
            form: Some(SmallForm {
                href: "/operator/accounts/1/credit".to_owned(),
                fields: vec![Field::text("amount", "Amount in naira")],
                action: "Add credit".to_owned(),
            }),
        }],
    }
}

fn send(counter: Counter) -> Send {
    let senders = ["KANOFRESH", "KF-ALERT"].map(|value| Choice::new(value, value));
    Send {
        shell: shell("Send messages", Section::Send),
        error: None,
        fields: vec![
            Field::new(Kind::Select(senders.to_vec()), "from", "Sender ID"),
            Field::new(Kind::Lines(4), "to", "Recipients")
                .hint("One number a line, or with commas."),
            Field::new(Kind::Lines(6), "body", "Text"),
        ],
        counter,
    }
}

pub(super) fn counter() -> Counter {
    Counter {
        figures: vec![
            Figure::new("Recipients", "1,204"),
            Figure::new("Pages", "2").note(Tone::Plain, "GSM, 188 characters"),
            Figure::new("Cost", "₦15,652.00"),
        ],
        notes: vec![
            (
                Tone::Warning,
                "3 numbers are not valid and are left out: 0803, 12, +1.".to_owned(),
            ),
            (
                Tone::Warning,
                "2 recipients who opted out will be left out, without a charge.".to_owned(),
            ),
            (
                Tone::Plain,
                "2 curly quotes become straight ones.".to_owned(),
            ),
        ],
        prepared: Some("Ranka ya dade! \"Fresh\" tomatoes.".to_owned()),
        networks: vec![["mtn", "800", "1,600", "₦10,400.00"].map(str::to_owned)],
    }
}
