//! Payments of all accounts, and their settings, for operators.

use super::lists::operator;
use super::{HOSTILE, NOW_MS};
use crate::parts::{Badge, Cell, Column, Confirm, Empty, Field, Figure, Pager, Table, Tabs, Tone};
use crate::screens::{Details, Listing, Part, SmallForm};
use crate::{Section, html};

pub(super) fn all() -> Vec<(&'static str, String)> {
    let rows = vec![
        row("₦100,000.00", "1882399170363392", "₦107,499.99"),
        row("₦900.00", "Unknown", HOSTILE),
    ];
    vec![
        ("all-top-ups", html(&top_ups(rows))),
        ("all-top-ups-empty", html(&top_ups(Vec::new()))),
        ("mismatch", html(&mismatch())),
        ("payment-settings", html(&settings(true))),
        ("payment-settings-empty", html(&settings(false))),
    ]
}

fn row(amount: &str, account: &str, received: &str) -> Vec<Cell> {
    vec![
        Cell::Link {
            name: amount.to_owned(),
            href: "/operator/top-ups/1".to_owned(),
            note: "Paystack".to_owned(),
        },
        Cell::Status(Badge::new(Tone::Warning, "Mismatch")),
        Cell::text(account),
        Cell::text("₦107,500.00"),
        Cell::text(received),
        Cell::Time(NOW_MS - 90_000),
    ]
}

fn top_ups(rows: Vec<Vec<Cell>>) -> Listing {
    let next = (!rows.is_empty()).then(|| "/operator/top-ups?cursor=4nT0kEn".to_owned());
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
        rows,
        now_ms: NOW_MS,
    };
    let empty = Empty::new(
        "No mismatches",
        "A payment that does not fit its top-up waits here for your decision.",
    );
    let tabs = [
        ("Mismatches", "?state=mismatch"),
        ("All", "?state=any"),
        ("Pending", "?state=pending"),
        ("Paid", "?state=paid"),
        ("Failed", "?state=failed"),
        ("Expired", "?state=expired"),
    ];
    Listing {
        actions: vec![(
            "Settings".to_owned(),
            "/operator/top-ups/settings".to_owned(),
        )],
        tabs: Some(Tabs::new("State", "Mismatches", &tabs)),
        pager: Pager {
            first: None,
            next,
            note: "2 top-ups".to_owned(),
        },
        ..Listing::new(operator("Top-ups", Section::AllTopUps), table, empty)
    }
}

fn pairs<const N: usize>(facts: [(&str, &str); N]) -> Vec<(String, String)> {
    facts
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

fn mismatch() -> Details {
    let reject = Confirm {
        id: "reject".to_owned(),
        action: "Reject".to_owned(),
        title: "Reject the payment?".to_owned(),
        text: "Nothing is credited. The money stays with Paystack: pay it back there.".to_owned(),
        href: "/operator/top-ups/1/reject".to_owned(),
        csrf_token: "4nT0kEn".to_owned(),
        hidden: Vec::new(),
        is_dangerous: true,
    };
    let form = SmallForm {
        href: "/operator/top-ups/1/accept".to_owned(),
        fields: vec![
            Field::text("account", "Account id")
                .hint("The payment names no account: name the one to credit."),
            Field::text("amount", "Amount to credit in naira")
                .hint("VAT is on top of it. Another amount than that of the top-up has no bonus.")
                .value("100000.00"),
        ],
        action: "Accept and credit".to_owned(),
    };
    Details {
        shell: operator("Top-up of ₦100,000.00", Section::AllTopUps),
        back: ("All top-ups".to_owned(), "/operator/top-ups".to_owned()),
        changes: vec![reject],
        figures: vec![
            Figure::new("Expected", "₦107,500.00").note(Tone::Plain, "amount and VAT"),
            Figure::new("Received", "₦107,499.99").note(Tone::Warning, "another amount was paid"),
            Figure::new("Amount", "₦100,000.00"),
            Figure::new("VAT", "₦7,500.00"),
            Figure::new("Bonus", "₦5,000.00"),
        ],
        facts: pairs([
            ("Account", "1882399170363392"),
            ("State", "Mismatch"),
            ("Provider", "Paystack"),
            ("Reference", HOSTILE),
            ("Payment at the provider", "4099260516"),
        ]),
        sections: vec![Part {
            title: "Accept".to_owned(),
            lead: "Compare the payment with the dashboard of the provider first.".to_owned(),
            table: None,
            empty: None,
            form: Some(form),
        }],
        refresh: None,
    }
}

fn settings(has_providers: bool) -> Details {
    let provider = |name: &str| {
        vec![
            Cell::text(name),
            Cell::Code("https://api.paystack.co/".to_owned()),
            Cell::Code("https://sms.example.ng/hooks/payments/paystack".to_owned()),
        ]
    };
    let columns = ["Provider", "API", "Webhook to set there"].map(Column::text);
    let providers = Part {
        title: "Providers".to_owned(),
        lead: "The section [payments] of the configuration has these settings.".to_owned(),
        table: Some(Table {
            label: "Providers".to_owned(),
            columns: columns.to_vec(),
            rows: if has_providers {
                vec![provider("Paystack (default)"), provider("Monnify")]
            } else {
                Vec::new()
            },
            now_ms: NOW_MS,
        }),
        empty: Some(Empty::new("No providers", "Customers cannot pay online.")),
        form: None,
    };
    Details {
        shell: operator("Settings of payments", Section::AllTopUps),
        back: ("All top-ups".to_owned(), "/operator/top-ups".to_owned()),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: pairs([
            ("VAT", "7.5 %, on top of the amount"),
            ("Lowest top-up", "₦500.00"),
            ("Credited to", "Universal wallet"),
            ("Time to pay", "1 d"),
            ("Search for payments", "Every 5 min"),
            (
                "Address of webhooks",
                "https://sms.example.ng/hooks/payments/NAME",
            ),
        ]),
        sections: vec![providers],
        refresh: None,
    }
}
