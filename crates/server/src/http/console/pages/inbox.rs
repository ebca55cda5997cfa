//! The inbox of the simulated phones: the messages of the sandbox as a phone would show them.

use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::shared::{optional, queries, recipient_badge};
use console::Section;
use console::parts::{Cell, Column, Empty, Field, Table};
use console::screens::Listing;
use domain::Environment;
use domain::search::FilterFields;
use engine::{Message, PageFields, RecipientState};

/// Messages that are shown.
const MESSAGES: &str = "25";
/// Phones that are shown of a message.
const PHONES: &str = "10";
/// Most characters of a text.
const MAX_TEXT_CHARACTERS: usize = 500;

/// `GET /console/inbox`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    if visitor.environment() != Environment::Sandbox {
        let text = "Switch to the sandbox to see the simulated phones.";
        return Ok(visitor.refused("/console/", text));
    }
    let (query, queries) = (visitor.query(), queries(&visitor)?);
    let phone = query.find("recipient");
    let filter = FilterFields {
        recipient: phone.map(str::to_owned),
        ..FilterFields::default()
    };
    let newest = |limit| PageFields {
        limit: Some(limit),
        cursor: None,
    };
    let found = queries.messages(&filter, newest(MESSAGES)).await?;
    let mut rows = Vec::new();
    for message in &found.items {
        let id = message.id.to_string();
        let phones = if let Some(number) = phone {
            vec![queries.recipient(&id, number).await?.recipient]
        } else {
            let all = FilterFields::default();
            queries.recipients(&id, &all, newest(PHONES)).await?.items
        };
        rows.extend(phones.iter().map(|one| row(message, one)));
    }
    let columns = vec![
        Column::text("Phone"),
        Column::text("Message"),
        Column::text("Status").wide(),
        Column::number("Time"),
    ];
    let table = Table {
        label: "Inbox".to_owned(),
        columns,
        rows,
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "No message yet",
        "Send one in the sandbox, and it appears on its phone here.",
    );
    let lead = "These phones exist in the sandbox alone. The end of a number decides its fate, as \
                the documentation of the sandbox lists.";
    let shell = visitor.shell("Simulated phones", Section::Inbox);
    let screen = Listing {
        lead: lead.to_owned(),
        filters: vec![optional(Field::text("recipient", "Phone"), query).inputmode("tel")],
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(message: &Message, one: &RecipientState) -> Vec<Cell> {
    let text = one.body.as_ref().or(message.body.as_ref());
    let text: String = text.map_or_else(
        || "The text is not kept.".to_owned(),
        |text| text.chars().take(MAX_TEXT_CHARACTERS).collect(),
    );
    vec![
        Cell::Link {
            name: one.recipient.to_string(),
            href: format!("/console/messages/{}/{}", message.id, one.recipient),
            note: message.sender.clone(),
        },
        Cell::text(text),
        Cell::Status(recipient_badge(one.delivery_status)),
        Cell::Time(one.updated_at_ms),
    ]
}
