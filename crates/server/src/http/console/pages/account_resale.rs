//! The parent and the sub-accounts of an account, for operators.

use super::super::failure::Failure;
use super::super::visitor::Visitor;
use super::account_parts::{path, rows, status};
use super::lists::few;
use super::sub_account::{DAYS, page_price, since_ms};
use super::sub_account_parts::accounts;
use console::figures::{naira, time};
use console::parts::{Cell, Column};
use console::screens::Part;
use domain::AccountId;
use engine::SubAccount;
use engine::operators::{ResaleUsage, SubAccounts};

/// Returns the sections about the parent and the sub-accounts of an account. An account has one of
/// both at most.
pub(super) async fn sections(visitor: &Visitor, id: AccountId) -> Result<Vec<Part>, Failure> {
    let accounts = accounts(visitor);
    if let Some(parent) = accounts.parent(id).await? {
        return Ok(vec![of_parent(visitor, &accounts, (parent, id)).await?]);
    }
    let found = accounts.list(id, &few()).await?;
    if found.items.is_empty() {
        return Ok(Vec::new());
    }
    let cells = found.items.iter().map(|sub| {
        vec![
            Cell::Link {
                name: sub.account.name.clone(),
                href: path(sub.account.id),
                note: sub.account.id.to_string(),
            },
            Cell::Status(status(sub.account.status)),
            Cell::text(margins(&accounts, sub)),
            Cell::text(sub.per_day.map_or_else(|| "None".to_owned(), naira)),
            Cell::text(naira(sub.balance)),
        ]
    });
    let columns = vec![
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Margin of a page, and of a Unicode page"),
        Column::number("Daily limit").wide(),
        Column::number("Balance"),
    ];
    let lead = "The newest 10. The margin is the least that the account gets of a page.";
    let titles = ("Sub-accounts", lead);
    let cells = cells.collect();
    Ok(vec![rows(
        visitor,
        titles,
        columns,
        cells,
        "No sub-accounts",
    )])
}

/// Returns the margins of the gateways that have one.
fn margins(accounts: &SubAccounts, sub: &SubAccount) -> String {
    let prices = accounts.prices(sub);
    let margins = prices.iter().filter_map(|one| {
        let margin = one.margin();
        let is_some = margin.plain.is_positive() || margin.unicode.is_positive();
        is_some.then(|| format!("{}: {}", one.gateway.as_str(), page_price(margin)))
    });
    let margins: Vec<String> = margins.collect();
    if margins.is_empty() {
        "None".to_owned()
    } else {
        margins.join(", ")
    }
}

/// Returns the section about the parent of a sub-account, with the margin that it got.
async fn of_parent(
    visitor: &Visitor,
    accounts: &SubAccounts,
    (parent, id): (AccountId, AccountId),
) -> Result<Part, Failure> {
    let sub = accounts.show(parent, id).await?;
    let usage = accounts.usage(&sub, since_ms(visitor)).await?;
    let (account, _) = visitor.operations().accounts().show(parent).await?;
    let cells = vec![vec![
        Cell::Link {
            name: account.name.clone(),
            href: path(parent),
            note: parent.to_string(),
        },
        Cell::Status(status(account.status)),
        Cell::text(margins(accounts, &sub)),
        Cell::text(naira(usage.margin)),
    ]];
    let columns = vec![
        Column::text("Name"),
        Column::text("Status"),
        Column::text("Margin of a page, and of a Unicode page"),
        Column::number("Margin so far"),
    ];
    let lead = format!("The account belongs to this one. {}", period(&usage));
    Ok(rows(
        visitor,
        ("Parent", &lead),
        columns,
        cells,
        "No parent",
    ))
}

fn period(usage: &ResaleUsage) -> String {
    match usage.counted_since_ms {
        Some(at_ms) => format!("The margin is that since {}.", time(at_ms)),
        None => format!("The margin so far is that of the last {DAYS} days."),
    }
}
