//! The audit log, for operators.

use super::super::failure::Failure;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::request;
use super::shared::pager;
use console::Section;
use console::parts::{Cell, Column, Empty, Field, Table};
use console::screens::Listing;
use domain::AccountId;
use engine::operators::AuditEntry;

const PATH: &str = "/operator/audit";

/// `GET /operator/audit`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let asked = visitor.query().get("account").trim().to_owned();
    let account = match asked.as_str() {
        "" => None,
        id => Some(id.parse::<AccountId>().map_err(|_| Failure::NotFound)?),
    };
    let audit = visitor.operations().audit();
    let page = audit.list(account, &request(&visitor)).await?;
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
        rows: page.items.iter().map(row).collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "No changes yet",
        "Each change by an operator or a user is listed here.",
    );
    let mut listing = Listing::new(visitor.shell("Audit log", Section::Audit), table, empty);
    listing.filters = vec![
        Field::text("account", "Account id")
            .optional()
            .value(asked)
            .inputmode("numeric"),
    ];
    listing.pager = pager(PATH, visitor.query(), &["account"], &page, "entry");
    Ok(visitor.answer(&listing))
}

fn row(entry: &AuditEntry) -> Vec<Cell> {
    let account = entry.account_id.map_or_else(
        || Cell::text("–"),
        |id| Cell::link(id.to_string(), format!("/operator/accounts/{id}")),
    );
    vec![
        Cell::Time(entry.at_ms),
        Cell::text(&entry.actor),
        Cell::Code(entry.verb.clone()),
        account,
        Cell::text(&entry.object),
        Cell::Code(format!("{} → {}", entry.before, entry.after)),
    ]
}
