//! The revenue, for operators.

use super::NOW_MS;
use super::lists::operator;
use crate::chart::{Chart, Data, Form, Series};
use crate::parts::{Cell, Choice, Column, Empty, Field, Figure, Kind, Table, Tone};
use crate::screens::{Counted, Revenue};
use crate::{Section, figures, html};
use domain::Money;

pub(super) fn all() -> Vec<(&'static str, String)> {
    vec![
        ("revenue", html(&revenue(Some(counted())))),
        ("revenue-running", html(&revenue(None))),
    ]
}

const MONTHS: [&str; 4] = ["2026-08", "2026-09", "2026-10", "2026-11"];

fn amounts(first: Cell) -> Vec<Cell> {
    let amounts = ["₦1,104,312.50", "₦41,080.00", "₦58,220.00", "₦1,005,012.50"];
    [first].into_iter().chain(amounts.map(Cell::text)).collect()
}

fn table(label: &str, names: [&str; 5], rows: Vec<Vec<Cell>>) -> Table {
    let [first, amounts @ ..] = names;
    let amounts = amounts.map(|name| match name {
        "VAT" | "Bonus" | "From bonus" | "Margins" => Column::number(name).wide(),
        _ => Column::number(name),
    });
    Table {
        label: label.to_owned(),
        columns: [Column::text(first)].into_iter().chain(amounts).collect(),
        rows,
        now_ms: NOW_MS,
    }
}

fn counted() -> Counted {
    let series = |name: &str, tone, naira: [i64; 4]| Series {
        name: name.to_owned(),
        tone,
        values: naira.map(|naira| Money::from_naira(naira).units()).to_vec(),
    };
    let by_month = || {
        let months = MONTHS.iter().rev();
        months.map(|month| amounts(Cell::text(*month))).collect()
    };
    let account = Cell::link("1882399170363392", "/operator/accounts/1882399170363392");
    Counted {
        export: (
            "Added up at 29 Nov 2026, 16:06:42".to_owned(),
            "/operator/revenue.csv".to_owned(),
        ),
        figures: vec![
            Figure::new("Revenue", "₦1,005,012").note(Tone::Plain, "this month"),
            Figure::new("Paid in", "₦1,250,000").note(Tone::Plain, "38 top-ups"),
            Figure::new("VAT", "₦93,750").note(Tone::Plain, "of top-ups"),
            Figure::new("Spent", "₦1,104,312").note(Tone::Plain, "after refunds"),
            Figure::new("Margins", "₦58,220").note(Tone::Plain, "paid to parents"),
        ],
        chart: Chart::draw(&Data {
            title: "Paid in, revenue and margins by month".to_owned(),
            form: Form::Lines,
            periods: MONTHS
                .map(|month| (month.to_owned(), month.to_owned()))
                .to_vec(),
            series: vec![
                series(
                    "Paid in",
                    Tone::Waiting,
                    [640_000, 910_000, 1_180_000, 1_250_000],
                ),
                series(
                    "Revenue",
                    Tone::Good,
                    [512_000, 803_000, 1_021_000, 1_005_012],
                ),
                series("Margins", Tone::Plain, [0, 12_000, 51_000, 58_220]),
            ],
            unit: Money::from_naira(1).units(),
            write: |units| figures::naira(Money::from_units(units)),
            write_short: |units| format!("₦{}", figures::short(units / 10_000)),
            is_last_open: true,
        }),
        money_in: table(
            "Money in by month",
            ["Month", "Paid in", "VAT", "Credited", "Bonus"],
            by_month(),
        ),
        revenue: table(
            "Revenue by month",
            ["Month", "Spent", "From bonus", "Margins", "Revenue"],
            by_month(),
        ),
        title: "Accounts in 2026-11, highest revenue first".to_owned(),
        accounts: table(
            "Revenue by account",
            ["Account", "Paid in", "Spent", "Margins", "Revenue"],
            vec![amounts(account)],
        ),
        no_accounts: Empty::new(
            "No money moved",
            "Accounts that pay in or send in this month appear here.",
        ),
    }
}

fn revenue(counted: Option<Counted>) -> Revenue {
    let choices = [3, 6, 12, 24];
    let choices = choices.map(|one| Choice::new(one.to_string(), format!("Last {one}")));
    let refresh = counted.is_none();
    Revenue {
        shell: operator("Revenue", Section::Revenue),
        lead: "Money that moved in each month of Lagos. Revenue is what messages cost after \
               refunds, minus what bonuses paid and minus the margins of parents."
            .to_owned(),
        fields: vec![Field::new(Kind::Select(choices.to_vec()), "months", "Months").value("12")],
        href: "/operator/revenue".to_owned(),
        counted,
        empty: Empty::new(
            "The numbers are being added up",
            "Days that were read: 212 of 466. The addition goes on when you leave the page.",
        ),
        refresh: refresh.then(|| "/operator/revenue?part=state".to_owned()),
    }
}
