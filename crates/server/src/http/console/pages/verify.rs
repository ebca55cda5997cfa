//! The check of the books, for operators.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use console::figures::count;
use console::parts::{Cell, Column, Figure, Table};
use console::screens::{Form as FormScreen, Listing};
use console::{Section, parts};
use engine::operators::Checked;

const PATH: &str = "/operator/verify";

/// `GET /operator/verify`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&FormScreen {
        shell: visitor.shell("Verify", Section::Verify),
        lead:
            "Every balance is computed again from the ledger, and the invariants of the database \
               are checked. With millions of messages this takes minutes: leave the page open."
                .to_owned(),
        fields: Vec::new(),
        error: None,
        href: PATH.to_owned(),
        action: "Verify now".to_owned(),
        back: "/operator/".to_owned(),
    }))
}

/// `POST /operator/verify`.
pub(super) async fn run(visitor: Visitor, _fields: Form) -> Answered {
    let report = visitor.operations().configuration().verify().await?;
    Ok(visitor.answer(&findings(&visitor, &report)))
}

fn findings(visitor: &Visitor, report: &Checked) -> Listing {
    let table = Table {
        label: "Findings".to_owned(),
        columns: vec![Column::text("Finding")],
        rows: report
            .violations
            .iter()
            .map(|one| vec![Cell::text(one)])
            .collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = parts::Empty::new("All is well", "No invariant is violated.");
    let mut listing = Listing::new(visitor.shell("Verify", Section::Verify), table, empty);
    listing.actions = vec![("Verify again".to_owned(), PATH.to_owned())];
    let checked = [
        ("Wallets", report.wallets),
        ("Ledger entries", report.entries),
        ("Messages", report.messages),
        ("Deliveries", report.deliveries),
    ];
    let figure = |(name, number): (&str, i64)| Figure::new(name, count(number.unsigned_abs()));
    listing.figures = checked.map(figure).to_vec();
    listing
}
