//! The page of one account.

use super::super::failure::Failure;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::{ACCOUNTS, account, path, rows, sender_href, status, verification};
use super::account_resale;
use super::lists::{confirm, dangerous, few, words};
use super::tokens;
use console::figures::{naira, time};
use console::parts::{Badge, Cell, Choice, Column, Confirm, Field, Figure, Kind, Tone};
use console::screens::{Details, Part, SmallForm};
use console::{Notice, Section};
use domain::user::role::Role;
use domain::{Account, AccountId, AccountStatus, Component, Queued, Spending, Verification};

/// `GET /operator/accounts/{id}`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let screen = screen(&visitor, None).await?;
    Ok(visitor.answer(&screen))
}

/// Returns the page of the account in the path, with a notice.
pub(super) async fn screen(visitor: &Visitor, notice: Option<Notice>) -> Result<Details, Failure> {
    let (id, operations) = (account(visitor)?, visitor.operations());
    let (account, purse) = operations.accounts().show(id).await?;
    let spending = operations.accounts().spending(id).await?;
    let queued = operations.accounts().queued(id).await?;
    let mut figures = vec![Figure::new("Balance", naira(purse.total()))];
    let parts = purse.parts();
    figures.extend(parts.map(|(part, amount)| Figure::new(words(part.as_str()), naira(amount))));
    let mut shell = visitor.shell(&account.name, Section::Accounts);
    shell.notices.extend(notice);
    let mut sections = account_resale::sections(visitor, id).await?;
    sections.extend([
        money("credit", "Add credit", "Add credit", id),
        money("debit", "Take back a credit", "Take back", id),
        limit(&spending, id),
        verified(&account),
        members(visitor, id).await?,
        senders(visitor, id).await?,
        token_list(visitor, id).await?,
        entries(visitor, id).await?,
    ]);
    Ok(Details {
        shell,
        back: ("All accounts".to_owned(), ACCOUNTS.to_owned()),
        changes: changes(visitor, &account),
        figures,
        facts: facts(&account, &spending, queued, visitor.now_ms()),
        sections,
        refresh: None,
    })
}

fn changes(visitor: &Visitor, account: &Account) -> Vec<Confirm> {
    let change = |to: AccountStatus, action: &str, text: &str| {
        let title = format!("{action} {}?", account.name);
        let href = format!("{}/status", path(account.id));
        let hidden = [("status", to.as_str())];
        confirm(
            visitor,
            (to.as_str(), action),
            (&title, text),
            &href,
            &hidden,
        )
    };
    let mut changes = Vec::new();
    if account.status != AccountStatus::Active {
        let text = "The account sends again, and its queue goes out.";
        changes.push(change(AccountStatus::Active, "Reactivate", text));
    }
    if account.status != AccountStatus::Restricted {
        let text = "The account reads and does not send. Its queue waits until it is active.";
        changes.push(change(AccountStatus::Restricted, "Restrict", text));
    }
    if account.status != AccountStatus::Disabled {
        let text = "The account does nothing. Its queue waits until it is active.";
        let disable = change(AccountStatus::Disabled, "Disable", text);
        changes.push(dangerous(disable));
    }
    changes
}

fn facts(
    account: &Account,
    spending: &Spending,
    queued: Option<Queued>,
    now_ms: i64,
) -> Vec<(String, String)> {
    let limit = spending.per_day.map_or_else(|| "None".to_owned(), naira);
    let facts = [
        ("Id", account.id.to_string()),
        ("E-mail", account.email.clone()),
        ("Status", status(account.status).text),
        ("Queue", words(queued.map_or("send", Queued::as_str))),
        ("Verification", verification(account.verification).text),
        ("Created", time(account.created_at_ms)),
        ("Daily limit", limit),
        ("Charged today", naira(spending.spent_by(now_ms))),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn money(kind: &str, title: &str, action: &str, id: AccountId) -> Part {
    let components =
        Component::ALL.map(|component| Choice::new(component.as_str(), words(component.as_str())));
    let name = |field: &str| format!("{kind}-{field}");
    let mut fields = vec![
        Field::text(&name("amount"), "Amount in naira")
            .hint("Digits and a point, such as 1000.00.")
            .inputmode("decimal"),
        Field::text(&name("reference"), "Reference")
            .hint("Your reference of the payment. A reference counts once."),
        Field::new(
            Kind::Select(components.to_vec()),
            &name("component"),
            "Component",
        )
        .value(Component::SmsWallet.as_str()),
    ];
    if kind == "debit" {
        fields.push(Field::text(&name("reason"), "Reason").hint("The audit keeps it."));
    }
    let small = SmallForm {
        href: format!("{}/{kind}", path(id)),
        fields,
        action: action.to_owned(),
    };
    Part::form(title, "", small)
}

fn limit(spending: &Spending, id: AccountId) -> Part {
    let value = spending.per_day.map(|limit| limit.to_string());
    let field = Field::text("limit", "Naira a day")
        .hint("Without an amount there is no limit.")
        .optional()
        .inputmode("decimal")
        .value(value.unwrap_or_default());
    let small = SmallForm {
        href: format!("{}/limit", path(id)),
        fields: vec![field],
        action: "Set limit".to_owned(),
    };
    Part::form("Daily limit", "A day is a calendar day in Lagos.", small)
}

fn verified(account: &Account) -> Part {
    let choices = Verification::ALL
        .iter()
        .map(|&one| Choice::new(one.as_str(), verification(one).text));
    let field = Field::new(
        Kind::Select(choices.collect()),
        "verification",
        "Verification of the owner",
    );
    let small = SmallForm {
        href: format!("{}/verification", path(account.id)),
        fields: vec![field.value(account.verification.as_str())],
        action: "Set verification".to_owned(),
    };
    Part::form("Verification", "", small)
}

async fn members(visitor: &Visitor, id: AccountId) -> Result<Part, Failure> {
    let members = visitor.operations().users().members(Some(id)).await?;
    let cells = members.iter().map(|one| {
        vec![
            Cell::text(&one.user.email),
            Cell::text(&one.user.name),
            Cell::text(words(one.role.as_str())),
        ]
    });
    let columns = ["E-mail", "Name", "Role"].map(Column::text).to_vec();
    let mut part = rows(visitor, ("Users", ""), columns, cells.collect(), "No users");
    let roles = Role::OF_ACCOUNT.map(|role| Choice::new(role.as_str(), words(role.as_str())));
    part.form = Some(SmallForm {
        href: format!("{}/invite", path(id)),
        fields: vec![
            Field::text("email", "E-mail address"),
            Field::new(Kind::Select(roles.to_vec()), "role", "Role").value("owner"),
        ],
        action: "Invite user".to_owned(),
    });
    Ok(part)
}

async fn senders(visitor: &Visitor, id: AccountId) -> Result<Part, Failure> {
    let page = visitor
        .operations()
        .senders()
        .list(Some(id), &few())
        .await?;
    let cells = page.items.iter().map(|one| {
        vec![
            Cell::link(&one.sender.name, sender_href(one)),
            Cell::Status(Badge::of_sender(one.sender.status)),
            Cell::text(&one.sender.purpose),
        ]
    });
    let columns = vec![
        Column::text("Sender ID"),
        Column::text("Status"),
        Column::text("Purpose").wide(),
    ];
    let lead = "The newest 10.";
    let cells = cells.collect();
    Ok(rows(
        visitor,
        ("Sender IDs", lead),
        columns,
        cells,
        "No sender IDs",
    ))
}

async fn token_list(visitor: &Visitor, id: AccountId) -> Result<Part, Failure> {
    let page = visitor.operations().tokens().list(Some(id), &few()).await?;
    let now_ms = visitor.now_ms();
    let uses = visitor.operations().tokens().uses(id).await?;
    let cells = page.items.iter();
    let cells = cells.map(|one| tokens::cells(one, &uses, now_ms));
    let (lead, cells) = ("The newest 10.", cells.collect());
    Ok(rows(
        visitor,
        ("API tokens", lead),
        tokens::columns(),
        cells,
        "No tokens",
    ))
}

async fn entries(visitor: &Visitor, id: AccountId) -> Result<Part, Failure> {
    let page = visitor.operations().wallets().statement(id, &few()).await?;
    let cells = page.items.iter().map(|one| {
        let tone = if one.amount.is_positive() {
            Tone::Good
        } else {
            Tone::Plain
        };
        let subject = one.reference.clone();
        vec![
            Cell::Status(Badge::new(tone, words(one.kind.as_str()))),
            Cell::text(subject.unwrap_or_else(|| one.subject.to_string())),
            Cell::text(words(one.component.as_str())),
            Cell::text(naira(one.amount)),
            Cell::Time(one.created_at_ms),
        ]
    });
    let columns = vec![
        Column::text("Entry"),
        Column::text("Reference"),
        Column::text("Component").wide(),
        Column::number("Amount"),
        Column::number("Time"),
    ];
    let (lead, cells) = ("The newest 10.", cells.collect());
    Ok(rows(
        visitor,
        ("Wallet entries", lead),
        columns,
        cells,
        "No entries",
    ))
}
