//! The sub-accounts of the account, and the form of a new one.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::made;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::status;
use super::lists::request;
use super::shared::pager;
use super::sub_account_parts::{LIVE_ONLY, PATH, accounts, may_change, parent, path};
use axum::http::StatusCode;
use console::Section;
use console::figures::{naira, time};
use console::parts::{Cell, Column, Empty, Field, Kind, Table};
use console::screens::{Form as FormScreen, Listing};
use domain::resale::SubAccountFields;
use engine::SubAccount;

const NEW: &str = "/console/sub-accounts/new";

/// `GET /console/sub-accounts`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    Ok(made::answer(&visitor, &listing(&visitor).await?))
}

/// `GET /console/sub-accounts/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    parent(&visitor)?;
    Ok(visitor.answer(&new_form(&visitor, &Form::default(), None)))
}

/// `POST /console/sub-accounts`. The first token of the sub-account is shown once, on the list.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let parent = parent(&visitor)?;
    if !may_change(&visitor) {
        let screen = new_form(&visitor, &fields, Some(LIVE_ONLY.to_owned()));
        return Ok(visitor.answer_with(StatusCode::UNPROCESSABLE_ENTITY, &screen));
    }
    let given = SubAccountFields {
        name: fields.find("name").map(str::to_owned),
        email: fields.find("email").map(str::to_owned),
    };
    match accounts(&visitor).create(parent, &given).await {
        Ok((sub, token)) => {
            let secret = (format!("The first token of “{}”", sub.account.name), token);
            Ok(made::lead(&visitor, PATH, &secret))
        }
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            Ok(visitor.answer_with(status, &new_form(&visitor, &fields, Some(text))))
        }
    }
}

fn new_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Create a sub-account", Section::SubAccounts),
        lead: "It gets a wallet of its own, which is empty, and a token, which is shown once. It \
               pays your prices until you set others."
            .to_owned(),
        fields: vec![
            Field::text("name", "Name")
                .hint("The name of the business or person.")
                .value(fields.get("name"))
                .autocomplete("off"),
            Field::new(Kind::Input("email"), "email", "E-mail address")
                .hint("The contact of the sub-account.")
                .value(fields.get("email"))
                .autocomplete("off"),
        ],
        error,
        href: PATH.to_owned(),
        action: "Create sub-account".to_owned(),
        back: PATH.to_owned(),
    }
}

async fn listing(visitor: &Visitor) -> Result<Listing, Failure> {
    let parent = parent(visitor)?;
    let found = accounts(visitor).list(parent, &request(visitor)).await?;
    let table = Table {
        label: "Sub-accounts".to_owned(),
        columns: vec![
            Column::text("Name"),
            Column::text("Status"),
            Column::number("Daily limit").wide(),
            Column::number("Balance"),
            Column::number("Created").wide(),
        ],
        rows: found.items.iter().map(row).collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        "No sub-accounts yet",
        "A sub-account sends with a wallet of its own, at prices that you set.",
    );
    let shell = visitor.shell("Sub-accounts", Section::SubAccounts);
    let mut actions = Vec::new();
    if may_change(visitor) {
        empty = empty.action("Create a sub-account", NEW);
        actions.push(("Create a sub-account".to_owned(), NEW.to_owned()));
    }
    Ok(Listing {
        lead: "A sub-account has a wallet, tokens and sender IDs of its own. It pays the price \
               that you set, and you get the difference to yours."
            .to_owned(),
        actions,
        pager: pager(PATH, visitor.query(), &[], &found, "sub-account"),
        secret: made::secret_of(visitor, PATH),
        ..Listing::new(shell, table, empty)
    })
}

fn row(sub: &SubAccount) -> Vec<Cell> {
    let account = &sub.account;
    vec![
        Cell::Link {
            name: account.name.clone(),
            href: path(account.id),
            note: account.email.clone(),
        },
        Cell::Status(status(account.status)),
        Cell::text(sub.per_day.map_or_else(|| "None".to_owned(), naira)),
        Cell::text(naira(sub.balance)),
        Cell::text(time(account.created_at_ms)),
    ]
}
