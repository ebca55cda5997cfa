//! The inbound messages of the account.

use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::shared::{optional, page_fields, page_or_reason, pager, queries};
use console::Section;
use console::parts::{Cell, Column, Empty, Field, Table};
use console::screens::Listing;
use domain::inbound::InboundMessage;
use domain::search::FilterFields;

const PATH: &str = "/console/inbound";
const FILTERS: [&str; 3] = ["number", "sender", "keyword"];
/// Most characters of a text.
const MAX_TEXT_CHARACTERS: usize = 500;

/// `GET /console/inbound`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let (query, queries) = (visitor.query(), queries(&visitor)?);
    let given = |name: &str| query.find(name).map(str::to_owned);
    let filter = FilterFields {
        number: given("number"),
        sender: given("sender"),
        keyword: given("keyword"),
        ..FilterFields::default()
    };
    let found = queries.inbound_messages(&filter, page_fields(query)).await;
    let (found, reason) = page_or_reason(found)?;
    let columns = vec![
        Column::text("From"),
        Column::text("Message"),
        Column::text("To").wide(),
        Column::number("Time"),
    ];
    let table = Table {
        label: "Inbound messages".to_owned(),
        columns,
        rows: found.items.iter().map(row).collect(),
        now_ms: visitor.now_ms(),
    };
    let is_filtered = FILTERS.iter().any(|name| query.find(name).is_some());
    let (title, text) = if is_filtered {
        (
            "No message fits",
            "Clear a filter, or search older messages.",
        )
    } else {
        (
            "No inbound messages",
            "A text that a subscriber sends to a number of yours appears here. Ask the operator \
             for a number.",
        )
    };
    let empty = Empty::new(reason.as_deref().unwrap_or(title), text);
    let shell = visitor.shell("Inbound messages", Section::Inbound);
    let screen = Listing {
        filters: vec![
            optional(Field::text("number", "To"), query).inputmode("tel"),
            optional(Field::text("sender", "From"), query).inputmode("tel"),
            optional(Field::text("keyword", "Keyword"), query),
        ],
        actions: vec![("Answers".to_owned(), "/console/inbound/answers".to_owned())],
        pager: pager(PATH, query, &FILTERS, &found, "message"),
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&screen))
}

fn row(message: &InboundMessage) -> Vec<Cell> {
    let text: String = match &message.body {
        Some(text) => text.chars().take(MAX_TEXT_CHARACTERS).collect(),
        None => "The text is not kept.".to_owned(),
    };
    let to = match message.keyword.as_str() {
        "" => message.number.clone(),
        keyword => format!("{}, {keyword}", message.number),
    };
    vec![
        Cell::text(&message.sender),
        Cell::text(text),
        Cell::text(to),
        Cell::Time(message.received_at_ms),
    ]
}
