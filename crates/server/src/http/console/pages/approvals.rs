//! The approval queue of sender IDs, and all sender IDs, for operators.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::{SENDERS as PATH, path, query, sender_href};
use super::lists::{confirm, dangerous, request};
use super::shared::pager;
use console::Section;
use console::figures::time;
use console::parts::{Badge, Cell, Column, Confirm, Empty, Field, Table, Tabs};
use console::screens::{Details, Listing, Part, SmallForm};
use domain::{AccountId, SenderStatus};
use engine::operators::{OperationError, RegisteredSender};

const ALL: &str = "/operator/sender-ids/all";
const STATUS: &str = "/operator/sender-ids/status";

/// `GET /operator/sender-ids`: those that wait, the oldest first.
pub(super) async fn queue(visitor: Visitor) -> Answered {
    let waiting = visitor.operations().senders().queue().await?;
    let rows = waiting.iter().enumerate().map(|(index, one)| {
        let mut cells = cells(one);
        cells.push(Cell::Changes(vec![change(
            &visitor,
            one,
            (index, SenderStatus::Approved),
        )]));
        cells
    });
    let empty = Empty::new(
        "No sender ID waits",
        "The queue has those that customers ask for.",
    );
    let mut listing = listing(&visitor, "Waiting", rows.collect(), empty);
    listing.table.columns.push(Column::number(""));
    Ok(visitor.answer(&listing))
}

/// `GET /operator/sender-ids/all`.
pub(super) async fn all(visitor: Visitor) -> Answered {
    let senders = visitor.operations().senders();
    let page = senders.list(None, &request(&visitor)).await?;
    let rows = page.items.iter().map(cells).collect();
    let empty = Empty::new("No sender IDs yet", "Customers register them.");
    let mut listing = listing(&visitor, "All", rows, empty);
    listing.pager = pager(ALL, visitor.query(), &[], &page, "sender ID");
    Ok(visitor.answer(&listing))
}

/// `GET /operator/sender-ids/one`.
pub(super) async fn details(visitor: Visitor) -> Answered {
    let (id, name) = named(visitor.query())?;
    let found = visitor.operations().senders().show(id, name).await;
    let one = found.map_err(known)?;
    let (account, _) = visitor.operations().accounts().show(id).await?;
    let sender = &one.sender;
    let facts = [
        ("Account", account.name),
        ("Status", Badge::of_sender(sender.status).text),
        ("Purpose", sender.purpose.clone()),
        ("Gateway", gateway(sender.international).to_owned()),
        ("Asked for", time(one.created_at_ms)),
        (
            "Approved",
            sender.approved_at_ms.map_or_else(|| "–".to_owned(), time),
        ),
        (
            "Reason",
            sender.rejection_reason.as_deref().unwrap_or("–").to_owned(),
        ),
    ];
    Ok(visitor.answer(&Details {
        shell: visitor.shell(&sender.name, Section::Approvals),
        back: ("Account".to_owned(), path(id)),
        changes: changes(&visitor, &one),
        figures: Vec::new(),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        sections: vec![Part {
            title: "Reject".to_owned(),
            lead: "The customer reads the reason.".to_owned(),
            table: None,
            empty: None,
            form: Some(SmallForm {
                href: format!("{PATH}/reject?{}", query(&one)),
                fields: vec![Field::text("reason", "Reason")],
                action: "Reject sender ID".to_owned(),
            }),
        }],
        refresh: None,
    }))
}

/// `POST /operator/sender-ids/status`: approved or suspended.
pub(super) async fn set_status(visitor: Visitor, fields: Form) -> Answered {
    let (id, name) = named(&fields)?;
    let status = match fields.get("status") {
        "approved" => SenderStatus::Approved,
        "suspended" => SenderStatus::Suspended,
        _ => return Err(Failure::Refused("Choose a status.".to_owned())),
    };
    let senders = visitor.operations().senders();
    let changed = senders.set_status(id, name, status, None).await;
    changed.map_err(known)?;
    Ok(visitor.done(PATH, &format!("{name} is {}.", status.as_str())))
}

/// `POST /operator/sender-ids/reject`.
pub(super) async fn reject(visitor: Visitor, fields: Form) -> Answered {
    let (id, name) = named(visitor.query())?;
    let (senders, reason) = (visitor.operations().senders(), fields.get("reason"));
    let rejected = senders.set_status(id, name, SenderStatus::Rejected, Some(reason));
    rejected.await.map_err(known)?;
    Ok(visitor.done(PATH, &format!("{name} is rejected.")))
}

/// Returns the account and the sender ID that a query or a form names.
fn named(fields: &Form) -> Result<(AccountId, &str), Failure> {
    let account = fields.get("account").parse();
    Ok((account.map_err(|_| Failure::NotFound)?, fields.get("name")))
}

/// An unknown sender ID is a page that does not exist.
fn known(error: OperationError) -> Failure {
    match error {
        OperationError::NoSender(_) => Failure::NotFound,
        other => other.into(),
    }
}

const fn gateway(international: bool) -> &'static str {
    if international {
        "International only"
    } else {
        "Domestic"
    }
}

fn cells(one: &RegisteredSender) -> Vec<Cell> {
    vec![
        Cell::link(&one.sender.name, sender_href(one)),
        Cell::link(one.account.to_string(), path(one.account)),
        Cell::Status(Badge::of_sender(one.sender.status)),
        Cell::text(&one.sender.purpose),
        Cell::Time(one.created_at_ms),
    ]
}

fn listing(visitor: &Visitor, current: &str, rows: Vec<Vec<Cell>>, empty: Empty) -> Listing {
    let table = Table {
        label: "Sender IDs".to_owned(),
        columns: vec![
            Column::text("Sender ID"),
            Column::text("Account"),
            Column::text("Status").wide(),
            Column::text("Purpose").wide(),
            Column::number("Asked for"),
        ],
        rows,
        now_ms: visitor.now_ms(),
    };
    let mut listing = Listing::new(
        visitor.shell("Sender IDs", Section::Approvals),
        table,
        empty,
    );
    let tabs = [("Waiting", PATH), ("All", ALL)];
    listing.tabs = Some(Tabs::new("Sender IDs", current, &tabs));
    listing
}

fn changes(visitor: &Visitor, one: &RegisteredSender) -> Vec<Confirm> {
    if one.sender.status == SenderStatus::Approved {
        let suspend = change(visitor, one, (0, SenderStatus::Suspended));
        vec![dangerous(suspend)]
    } else {
        vec![change(visitor, one, (0, SenderStatus::Approved))]
    }
}

fn change(
    visitor: &Visitor,
    one: &RegisteredSender,
    (index, to): (usize, SenderStatus),
) -> Confirm {
    let (action, text) = match to {
        SenderStatus::Approved => ("Approve", "The account may send with it at once."),
        _ => (
            "Suspend",
            "The account may not send with it until it is approved.",
        ),
    };
    let (account, name) = (one.account.to_string(), one.sender.name.as_str());
    let hidden = [
        ("account", account.as_str()),
        ("name", name),
        ("status", to.as_str()),
    ];
    let id = format!("{}-{index}", to.as_str());
    let title = format!("{action} {name}?");
    confirm(visitor, (&id, action), (&title, text), STATUS, &hidden)
}
