//! The check of the books, for operators.

use super::super::background::State;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use console::Section;
use console::figures::{count, duration, time};
use console::parts::{Cell, Column, Empty, Table};
use console::screens::{Form as FormScreen, Listing};
use engine::operators::{Checked, VerifyProgress};
use std::sync::Arc;

const PATH: &str = "/operator/verify";

/// `GET /operator/verify`. While a verification runs, the page follows it.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let rows = match visitor.verifying().state() {
        State::None => return Ok(visitor.answer(&offer(&visitor))),
        State::Running { since_ms, progress } => running(&progress, visitor.now_ms() - since_ms),
        State::Ended { since_ms, result } => ended(result.as_deref(), since_ms),
    };
    Ok(visitor.answer(&results(&visitor, rows)))
}

/// `GET /operator/verify/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&offer(&visitor)))
}

/// `POST /operator/verify`.
pub(super) async fn run(visitor: Visitor, _fields: Form) -> Answered {
    let books = visitor.operations().configuration();
    let verify = |progress: Arc<VerifyProgress>| async move {
        let report = books.verify_with(&progress).await;
        if let Err(error) = &report {
            tracing::warn!(%error, "verification: not completed, the database failed");
        }
        report.ok()
    };
    visitor.verifying().start(visitor.now_ms(), verify);
    Ok(visitor.redirect(PATH))
}

fn offer(visitor: &Visitor) -> FormScreen {
    let lead = "Every balance is computed again from the ledger, and the invariants of the \
                database are checked. With millions of messages this takes minutes. It goes on \
                when you leave the page.";
    FormScreen {
        shell: visitor.shell("Verify", Section::Verify),
        lead: lead.to_owned(),
        fields: Vec::new(),
        error: None,
        href: PATH.to_owned(),
        action: "Verify now".to_owned(),
        back: "/operator/".to_owned(),
    }
}

fn results(visitor: &Visitor, rows: Vec<(String, String)>) -> Listing {
    let cells = |(name, result): (String, String)| vec![Cell::text(name), Cell::text(result)];
    let table = Table {
        label: "Verification".to_owned(),
        columns: vec![Column::text("Checked"), Column::number("Result")],
        rows: rows.into_iter().map(cells).collect(),
        now_ms: visitor.now_ms(),
    };
    let none = Empty::new("Not verified yet", "Start a verification.");
    let mut listing = Listing::new(visitor.shell("Verify", Section::Verify), table, none);
    listing.actions = vec![("Verify again".to_owned(), format!("{PATH}/new"))];
    listing.refresh = Some(PATH.to_owned());
    listing
}

fn row(name: &str, result: impl Into<String>) -> (String, String) {
    (name.to_owned(), result.into())
}

fn running(progress: &VerifyProgress, for_ms: i64) -> Vec<(String, String)> {
    let (done, all) = progress.read();
    vec![
        row("Verification", "Running"),
        row("Checks", format!("{done} of {all}")),
        row("Duration", duration(for_ms)),
    ]
}

fn ended(report: Option<&Checked>, since_ms: i64) -> Vec<(String, String)> {
    let Some(report) = report else {
        return vec![row(
            "Verification",
            "Failed: the database did not answer. Try again.",
        )];
    };
    let summary = match report.violations.len() {
        0 => "All is well".to_owned(),
        1 => "1 invariant is violated".to_owned(),
        many => format!("{many} invariants are violated"),
    };
    let number = |number: i64| count(number.unsigned_abs());
    let mut rows = vec![
        row("Verification", summary),
        row("Started", time(since_ms)),
        row("Wallets", number(report.wallets)),
        row("Ledger entries", number(report.entries)),
        row("Messages", number(report.messages)),
        row("Deliveries", number(report.deliveries)),
    ];
    rows.extend(report.violations.iter().map(|one| row(one, "Violated")));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_verification_names_each_violation() {
        let mut report = Checked::default();
        assert!(ended(Some(&report), 0).contains(&row("Verification", "All is well")));
        report.violations = vec!["the first".to_owned(), "the second".to_owned()];
        let rows = ended(Some(&report), 0);
        assert!(rows.contains(&row("Verification", "2 invariants are violated")));
        assert!(rows.contains(&row("the second", "Violated")));
        assert_eq!(ended(None, 0).len(), 1);
    }
}
