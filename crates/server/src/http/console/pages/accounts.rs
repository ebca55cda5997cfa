//! All accounts, for operators.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::{ACCOUNTS as PATH, path, status, verification};
use super::lists::request;
use super::shared::pager;
use console::Section;
use console::parts::{Cell, Column, Empty, Field, Table};
use console::screens::{Form as FormScreen, Listing};
use domain::search::AccountSearch;

const NEW: &str = "/operator/accounts/new";

/// `GET /operator/accounts`.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let accounts = visitor.operations().accounts();
    let asked = visitor.query().get("search").trim().to_owned();
    let search = AccountSearch::new(&asked);
    let page = match &search {
        Some(search) => accounts.search(search, &request(&visitor)).await?,
        None => accounts.list(&request(&visitor)).await?,
    };
    let rows = page.items.iter().map(|account| {
        vec![
            Cell::Link {
                name: account.name.clone(),
                href: path(account.id),
                note: account.email.clone(),
            },
            Cell::Status(status(account.status)),
            Cell::Status(verification(account.verification)),
            Cell::Code(account.id.to_string()),
            Cell::Time(account.created_at_ms),
        ]
    });
    let table = Table {
        label: "Accounts".to_owned(),
        columns: vec![
            Column::text("Name"),
            Column::text("Status"),
            Column::text("Verification").wide(),
            Column::text("Id").wide(),
            Column::number("Created"),
        ],
        rows: rows.collect(),
        now_ms: visitor.now_ms(),
    };
    let create = ("Create an account".to_owned(), NEW.to_owned());
    let empty = match (&search, &page.next) {
        (None, _) => Empty::new(
            "No accounts yet",
            "Each customer has an account with a wallet.",
        )
        .action(create.0.clone(), create.1.clone()),
        (Some(_), None) => Empty::new(
            "No account fits",
            "A part of the name, the e-mail address or the id is enough.",
        ),
        (Some(_), Some(_)) => Empty::new(
            "No newer account fits",
            "The next page searches older accounts.",
        ),
    };
    let mut listing = Listing::new(visitor.shell("Accounts", Section::Accounts), table, empty);
    listing.actions = vec![create];
    listing.filters = vec![
        Field::text("search", "Name, e-mail or id")
            .optional()
            .value(asked),
    ];
    listing.pager = pager(PATH, visitor.query(), &["search"], &page, "account");
    Ok(visitor.answer(&listing))
}

/// `GET /operator/accounts/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_form(&visitor, &Form::default(), None)))
}

/// `POST /operator/accounts`.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let accounts = visitor.operations().accounts();
    match accounts
        .create(fields.get("name"), fields.get("email"))
        .await
    {
        Ok(account) => Ok(visitor.done(&path(account.id), "The account was created.")),
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            Ok(visitor.answer_with(status, &new_form(&visitor, &fields, Some(text))))
        }
    }
}

fn new_form(visitor: &Visitor, fields: &Form, error: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Create an account", Section::Accounts),
        lead: "The account is active at once. Its wallet is empty.".to_owned(),
        fields: vec![
            Field::text("name", "Name")
                .hint("The name of the business or person.")
                .value(fields.get("name")),
            Field::text("email", "E-mail address")
                .hint("The contact of the account.")
                .value(fields.get("email")),
        ],
        error,
        href: PATH.to_owned(),
        action: "Create account".to_owned(),
        back: PATH.to_owned(),
    }
}
