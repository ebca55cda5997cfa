//! The wallet: balances, and the statement.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::payment_parts::component as name;
use super::shared::{
    address, exported, moment, optional, page_fields, page_or_reason, pager, queries,
};
use console::Section;
use console::figures::naira;
use console::parts::{Choice, Empty, Field, Figure, Kind};
use console::screens::{self, WalletRow};
use domain::search::{EntryKind, FilterFields};
use domain::{Money, Purse};
use engine::WalletEntry;

const PATH: &str = "/console/wallet";
const FILTERS: [&str; 3] = ["since", "until", "kind"];

/// `GET /console/wallet`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let (queries, query) = (queries(&visitor)?, visitor.query());
    let purse = queries.balance().await?;
    let found = queries
        .wallet_entries(&filter(query), page_fields(query))
        .await;
    let (found, error) = page_or_reason(found)?;
    let screen = screens::Wallet {
        shell: visitor.shell("Wallet", Section::Wallet),
        balances: balances(&purse),
        filters: filters(query),
        is_filtered: FILTERS.iter().any(|name| query.find(name).is_some()),
        error,
        empty: Empty::new("No entries", "A charge, refund or credit appears here."),
        pager: pager(PATH, query, &FILTERS, &found, "entry"),
        rows: found.items.iter().map(row).collect(),
        export: address("/console/exports/wallet.csv", query, &FILTERS, None),
    };
    Ok(visitor.answer(&screen))
}

/// `GET /console/exports/wallet.csv`, with the filters of the statement.
pub(super) async fn export(visitor: Visitor) -> Answered {
    let export = queries(&visitor)?.export_wallet(&filter(visitor.query()))?;
    exported(export, "wallet.csv").await
}

fn filter(query: &Form) -> FilterFields {
    FilterFields {
        since: query.find("since").map(moment),
        until: query.find("until").map(moment),
        kind: query.find("kind").map(str::to_owned),
        ..FilterFields::default()
    }
}

fn filters(query: &Form) -> Vec<Field> {
    let mut kinds = vec![Choice::new("", "Any")];
    kinds.extend(
        EntryKind::ALL
            .iter()
            .map(|one| Choice::new(one.as_str(), word(*one))),
    );
    vec![
        optional(Field::new(Kind::Input("date"), "since", "From"), query),
        optional(Field::new(Kind::Input("date"), "until", "Before"), query),
        optional(Field::new(Kind::Select(kinds), "kind", "Entry"), query),
    ]
}

fn balances(purse: &Purse) -> Vec<Figure> {
    let mut figures = vec![Figure::new("Balance", naira(purse.total()))];
    let parts = purse.parts();
    figures.extend(parts.map(|(component, amount)| Figure::new(name(component), naira(amount))));
    figures
}

const fn word(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Charge => "Charge",
        EntryKind::Refund => "Refund",
        EntryKind::Credit => "Credit",
        EntryKind::Debit => "Debit",
        EntryKind::Transfer => "Transfer",
        EntryKind::Margin => "Margin",
    }
}

fn row(entry: &WalletEntry) -> WalletRow {
    let recipient = entry.recipient.map(|recipient| recipient.to_string());
    // The message of a margin belongs to a sub-account, and the console shows those of the account.
    let own = entry.message.filter(|_| entry.kind != EntryKind::Margin);
    WalletRow {
        at_ms: entry.at_ms,
        kind: word(entry.kind).to_owned(),
        detail: recipient
            .or_else(|| entry.reference.clone())
            .unwrap_or_default(),
        href: own.map(|id| format!("/console/messages/{id}")),
        component: name(entry.component).to_owned(),
        amount: naira(entry.amount),
        is_gain: entry.amount > Money::ZERO,
        balance: naira(entry.balance_after),
    }
}
