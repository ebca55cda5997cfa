//! Top-ups and alerts of a customer, with content and empty.

use super::{HOSTILE, NOW_MS, shell};
use crate::parts::{
    Badge, Cell, Choice, Column, Confirm, Empty, Field, Figure, Kind, Pager, Table, Tone,
};
use crate::screens::{Counter, Listing, TopUp, TopUpForm};
use crate::{Section, html};

pub(super) fn all() -> Vec<(&'static str, String)> {
    let rows = vec![
        row(
            "₦100,000.00",
            "Paystack",
            Badge::new(Tone::Waiting, "Pending"),
        ),
        row("₦50,000.00", "Monnify", Badge::new(Tone::Good, "Paid")),
        row("₦5,000.00", HOSTILE, Badge::new(Tone::Warning, "Mismatch")),
    ];
    vec![
        ("top-ups", html(&top_ups(rows, LEAD))),
        ("top-ups-empty", html(&top_ups(Vec::new(), LEAD))),
        ("top-ups-closed", html(&closed())),
        ("top-up-new", html(&form())),
        ("top-up-pending", html(&pending())),
        ("top-up-paid", html(&paid())),
        ("alerts", html(&alerts(vec![alert("1"), hostile_alert()]))),
        ("alerts-empty", html(&alerts(Vec::new()))),
    ]
}

const LEAD: &str = "A payment is credited as soon as its provider confirms it.";

fn row(amount: &str, provider: &str, state: Badge) -> Vec<Cell> {
    vec![
        Cell::Link {
            name: amount.to_owned(),
            href: "/console/top-ups/1".to_owned(),
            note: provider.to_owned(),
        },
        Cell::Status(state),
        Cell::text("₦7,500.00"),
        Cell::text("₦107,500.00"),
        Cell::text("₦5,000.00"),
        Cell::Time(NOW_MS - 90_000),
    ]
}

fn top_ups(rows: Vec<Vec<Cell>>, lead: &str) -> Listing {
    let next = (!rows.is_empty()).then(|| "/console/top-ups?cursor=4nT0kEn".to_owned());
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
        rows,
        now_ms: NOW_MS,
    };
    let empty = Empty::new(
        "No top-ups yet",
        "A payment into the wallet appears here, with its receipt.",
    )
    .action("Top up", "/console/top-ups/new");
    Listing {
        lead: lead.to_owned(),
        actions: vec![("Top up".to_owned(), "/console/top-ups/new".to_owned())],
        pager: Pager {
            first: None,
            next,
            note: "3 top-ups".to_owned(),
        },
        ..Listing::new(shell("Top-ups", Section::TopUps), table, empty)
    }
}

fn closed() -> Listing {
    let lead = "This installation takes no payments online. Ask the operator to add credit: it \
                appears in the wallet.";
    let mut listing = top_ups(Vec::new(), lead);
    listing.actions = Vec::new();
    listing.empty.action = None;
    listing
}

fn figures() -> Vec<Figure> {
    vec![
        Figure::new("Credit", "₦100,000.00"),
        Figure::new("VAT", "₦7,500.00").note(Tone::Plain, "7.5 %"),
        Figure::new("To pay", "₦107,500.00"),
        Figure::new("Bonus", "₦5,000.00").note(Tone::Good, "added as well"),
    ]
}

fn form() -> TopUpForm {
    let providers = [("paystack", "Paystack"), ("monnify", "Monnify")];
    let providers = providers.map(|(value, text)| Choice::new(value, text));
    TopUpForm {
        shell: shell("Top up", Section::TopUps),
        error: Some("`amount`: a top-up is at least 500.00.".to_owned()),
        fields: vec![
            Field::text("amount", "Amount in naira")
                .hint("The wallet gets this amount, at least ₦500.00. VAT comes on top.")
                .value("100000")
                .inputmode("decimal")
                .autocomplete("off"),
            Field::new(Kind::Radio(providers.to_vec()), "provider", "Pay with").value("paystack"),
        ],
        price: Counter {
            figures: figures(),
            notes: vec![(
                Tone::Plain,
                "From ₦500,000.00 on, 8 % are added as SMS bonus.".to_owned(),
            )],
            prepared: None,
            networks: Vec::new(),
        },
    }
}

fn pending() -> TopUp {
    let facts = [
        ("Provider", "Paystack"),
        ("Reference", "ogene-019a5c1e9f007abc8000000000000001"),
        ("Credited to", "Universal wallet"),
        ("Made", "29 Nov 2026, 16:06:42"),
        ("Pay until", "30 Nov 2026, 16:06:42"),
    ];
    TopUp {
        shell: shell("Top-up", Section::TopUps),
        back: ("All top-ups".to_owned(), "/console/top-ups".to_owned()),
        actions: vec![(
            "Pay ₦107,500.00".to_owned(),
            "/console/top-ups/1/pay".to_owned(),
        )],
        state: Badge::new(Tone::Waiting, "Pending"),
        text: "Paystack has not confirmed the payment yet. The wallet is credited as soon as it \
               does, and this page shows it. Without script, reload the page."
            .to_owned(),
        refresh: Some("/console/top-ups/1?part=state&seen=pending".to_owned()),
        figures: figures(),
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    }
}

fn paid() -> TopUp {
    let mut facts = pending().facts;
    facts.push(("Received".to_owned(), HOSTILE.to_owned()));
    facts.push(("Receipt number".to_owned(), "1042".to_owned()));
    TopUp {
        actions: vec![(
            "Receipt to print".to_owned(),
            "/console/top-ups/1/receipt".to_owned(),
        )],
        state: Badge::new(Tone::Good, "Paid"),
        text: "The wallet has the credit.".to_owned(),
        refresh: None,
        facts,
        ..pending()
    }
}

fn alerts(rows: Vec<Vec<Cell>>) -> Listing {
    let table = Table {
        label: "Alerts".to_owned(),
        columns: vec![
            Column::number("Threshold"),
            Column::text("Receiver"),
            Column::text("Balance").wide(),
            Column::number("Last sent").wide(),
            Column::number(""),
        ],
        rows,
        now_ms: NOW_MS,
    };
    let empty = Empty::new(
        "No alerts yet",
        "An alert tells you once when the balance falls below an amount, and again after it was \
         above.",
    )
    .action("Add an alert", "/console/alerts/new");
    Listing {
        lead: "Each alert tells one receiver once when the balance of all components falls below \
               its threshold."
            .to_owned(),
        actions: vec![("Add an alert".to_owned(), "/console/alerts/new".to_owned())],
        ..Listing::new(shell("Alerts", Section::Alerts), table, empty)
    }
}

fn alert(id: &str) -> Vec<Cell> {
    let remove = Confirm {
        id: format!("remove-{id}"),
        action: "Remove".to_owned(),
        title: "Remove the alert at ₦5,000.00?".to_owned(),
        text: "amina@kanofresh.example gets no further alert.".to_owned(),
        href: format!("/console/alerts/{id}/remove"),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: false,
    };
    vec![
        Cell::text("₦5,000.00"),
        Cell::text("amina@kanofresh.example"),
        Cell::Status(Badge::new(Tone::Good, "Above")),
        Cell::text("Never"),
        Cell::Changes(vec![remove]),
    ]
}

fn hostile_alert() -> Vec<Cell> {
    let mut cells = alert("2");
    cells[1] = Cell::text(HOSTILE);
    cells[2] = Cell::Status(Badge::new(Tone::Warning, "Below"));
    cells[3] = Cell::Time(NOW_MS - 90_000);
    cells
}
