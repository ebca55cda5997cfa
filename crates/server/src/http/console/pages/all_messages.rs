//! Messages of all accounts, for operators: the search, a message and a recipient.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::shared::{
    Rows, address, message_or_reason, optional, page_or_reason, pager, recipient_badge,
};
use super::{account_parts, lists, messages, recipient};
use console::Section;
use console::figures::{count, counted, naira, time};
use console::parts::{Cell, Choice, Column, Empty, Field, Kind, Table};
use console::screens::{self, Details, MessageRow, Part};
use domain::{AccountId, Environment};
use engine::Message;
use engine::operators::{MessageDetails, Page, Queries, QueryScope};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const PATH: &str = "/operator/messages";
/// Recipients that the page of a message has.
const RECIPIENTS: u32 = 20;
/// The filters of the list beside those that customers have.
const OWN_FILTERS: [&str; 2] = ["account", "environment"];

fn all(visitor: &Visitor) -> Queries {
    let rules = visitor.engine().installation().rules().clone();
    visitor.operations().queries(rules)
}

/// `GET /operator/messages`. A message ID leads to its message.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let query = visitor.query();
    let queries = all(&visitor);
    let mut error = None;
    if let Some(id) = query.find("message_id").map(str::trim) {
        match message_or_reason(queries.message(id, None, 0).await)? {
            Ok(found) => return Ok(visitor.redirect(&format!("{PATH}/{}", found.message.id))),
            Err(reason) => error = Some(reason),
        }
    }
    let (found, refused) = match scope(query) {
        _ if error.is_some() => (Page::none(), None),
        Some(of) => {
            let (filter, request) = (messages::filter(query), lists::request(&visitor));
            page_or_reason(queries.messages(of, &filter, &request).await)?
        }
        None => {
            let refused = "The account is the number of its page.".to_owned();
            (Page::none(), Some(refused))
        }
    };
    let names = [&messages::FILTERS[..], &OWN_FILTERS].concat();
    let screen = screens::Messages {
        shell: visitor.shell("Messages", Section::AllMessages),
        filters: filters(query),
        is_filtered: names.iter().any(|name| query.find(name).is_some()),
        error: error.or(refused),
        pager: pager(PATH, query, &names, &found, "message"),
        rows: rows(&visitor, &found.items).await?,
        empty: Empty::new(
            "No message fits",
            "Clear a filter, or search a longer time.",
        ),
        href: PATH.to_owned(),
        export: None,
    };
    Ok(visitor.answer(&screen))
}

/// Returns the account and the environment of the query, or `None` for a wrong account.
fn scope(query: &Form) -> Option<QueryScope> {
    let account = query.find("account").map(|text| text.trim().parse());
    let environment = query.find("environment").and_then(Environment::from_name);
    Some(QueryScope {
        account: account.transpose().ok()?,
        environment: environment.unwrap_or(Environment::Live),
    })
}

fn filters(query: &Form) -> Vec<Field> {
    let choices = vec![Choice::new("", "Live"), Choice::new("sandbox", "Sandbox")];
    let environment = Field::new(Kind::Select(choices), "environment", "Environment");
    let account = Field::text("account", "Account").inputmode("numeric");
    let mut filters = messages::filters(query);
    filters.push(optional(account, query));
    filters.push(optional(environment, query));
    filters
}

/// Returns the rows, each with the name of its account.
async fn rows(visitor: &Visitor, found: &[Message]) -> Result<Vec<MessageRow>, Failure> {
    let mut names: BTreeMap<AccountId, String> = BTreeMap::new();
    for message in found {
        if let Entry::Vacant(place) = names.entry(message.account) {
            let accounts = visitor.operations().accounts();
            let (account, _) = accounts.show(message.account).await?;
            place.insert(account.name);
        }
    }
    let number = visitor.query().find("recipient");
    let rows = found.iter().map(|message| {
        let href = match number {
            Some(_) => address(
                &format!("{PATH}/{}", message.id),
                visitor.query(),
                &["recipient"],
                None,
            ),
            None => format!("{PATH}/{}", message.id),
        };
        MessageRow {
            account: names.get(&message.account).cloned(),
            ..messages::row(message, href)
        }
    });
    Ok(rows.collect())
}

/// `GET /operator/messages/{id}`. The field `recipient` asks for one recipient.
pub(super) async fn message(visitor: Visitor) -> Answered {
    let number = visitor.query().find("recipient");
    let found = all(&visitor)
        .message(visitor.param("id"), number, RECIPIENTS)
        .await?;
    let message = &found.message;
    let (account, _) = visitor
        .operations()
        .accounts()
        .show(message.account)
        .await?;
    let mut facts = vec![
        (
            "Account".to_owned(),
            format!("{} ({})", account.name, account.id),
        ),
        (
            "Environment".to_owned(),
            lists::words(found.environment.as_str()),
        ),
    ];
    facts.extend(messages::facts(message));
    let progress = messages::progress(message);
    facts.push(("State".to_owned(), progress.state.text));
    let title = format!("Message from {}", message.sender);
    let screen = Details {
        shell: visitor.shell(&title, Section::AllMessages),
        back: ("All messages".to_owned(), PATH.to_owned()),
        changes: Vec::new(),
        figures: progress.figures,
        facts,
        sections: vec![
            outcomes(&found, visitor.now_ms()),
            recipients(&found, visitor.now_ms()),
            owner(account.id, visitor.now_ms()),
        ],
        refresh: None,
    };
    Ok(visitor.answer(&screen))
}

fn part(title: &str, lead: String, table: Table) -> Part {
    Part {
        title: title.to_owned(),
        lead,
        table: Some(table),
        empty: Some(Empty::new("None", "There is nothing here yet.")),
        form: None,
    }
}

fn outcomes(found: &MessageDetails, now_ms: i64) -> Part {
    let rows = found.outcomes.iter().map(|one| {
        vec![
            Cell::Status(recipient_badge(one.delivery_status)),
            Cell::text(one.error_code.clone().unwrap_or_default()),
            Cell::text(count(one.recipients)),
            Cell::text(naira(one.refunded)),
        ]
    });
    let table = Table {
        label: "Outcomes".to_owned(),
        columns: vec![
            Column::text("Status"),
            Column::text("Error"),
            Column::number("Recipients"),
            Column::number("Refunded"),
        ],
        rows: rows.collect(),
        now_ms,
    };
    let text = found.message.body.clone();
    part("Outcomes", text.unwrap_or_default(), table)
}

fn recipients(found: &MessageDetails, now_ms: i64) -> Part {
    let id = found.message.id;
    let rows = found.recipients.iter().map(|one| {
        let one = &one.recipient;
        vec![
            Cell::Link {
                name: one.recipient.to_string(),
                href: format!("{PATH}/{id}/{}", one.recipient),
                note: one.network.clone(),
            },
            Cell::Status(recipient_badge(one.delivery_status)),
            Cell::text(one.error_code.clone().unwrap_or_default()),
            Cell::text(time(one.updated_at_ms)),
        ]
    });
    let table = Table {
        label: "Recipients".to_owned(),
        columns: vec![
            Column::text("Recipient"),
            Column::text("Status"),
            Column::text("Error").wide(),
            Column::number("Changed").wide(),
        ],
        rows: rows.collect(),
        now_ms,
    };
    let lead = format!(
        "{} of {}. A search of the messages by a number leads to any other.",
        count(found.recipients.len() as u64),
        counted(found.message.recipients, "recipient"),
    );
    part("Recipients", lead, table)
}

fn owner(id: AccountId, now_ms: i64) -> Part {
    let link = Cell::Link {
        name: id.to_string(),
        href: account_parts::path(id),
        note: String::new(),
    };
    let table = Table {
        label: "Account".to_owned(),
        columns: vec![Column::text("Account")],
        rows: vec![vec![link]],
        now_ms,
    };
    part("Account", String::new(), table)
}

/// `GET /operator/messages/{id}/{recipient}`.
pub(super) async fn one(visitor: Visitor) -> Answered {
    let (id, number) = (visitor.param("id"), visitor.param("recipient"));
    let found = all(&visitor).message(id, Some(number), 1).await?;
    let timeline = found.recipients.first().ok_or(Failure::NotFound)?;
    let shell = visitor.shell(
        &timeline.recipient.recipient.to_string(),
        Section::AllMessages,
    );
    let back = format!("{PATH}/{id}");
    let screen = recipient::screen(shell, back, &found.message, timeline);
    Ok(visitor.answer(&screen))
}
