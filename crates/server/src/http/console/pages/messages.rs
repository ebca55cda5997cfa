//! Messages: the list with its search, and a message with its recipients.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::message_changes;
use super::shared::{
    address, exported, message_or_reason, moment, optional, page_fields, page_or_reason, pager,
    queries, recipient_badge,
};
use console::Section;
use console::figures::{count, naira, percent, time};
use console::parts::{Badge, Choice, Confirm, Empty, Field, Figure, Kind, Tabs, Tone};
use console::screens::{self, MessageProgress, MessageRow, RecipientRow};
use domain::schedule::MessageState;
use domain::search::{FilterFields, StatusFilter};
use engine::{CustomerQueries, Message, RecipientState};

const PATH: &str = "/console/messages";
/// Most characters of a text in a row.
const MAX_EXCERPT_CHARACTERS: usize = 120;

/// A list of messages, which each account has for itself and for its sub-accounts.
pub(super) struct Place {
    /// The title of the list.
    pub(super) title: String,
    /// The section of the navigation.
    pub(super) section: Section,
    /// The address of the list.
    pub(super) path: String,
    /// The address of its export.
    pub(super) export: String,
    /// The state without messages and without filters.
    pub(super) empty: Empty,
}

/// `GET /console/messages`.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let empty = Empty::new(
        "No messages yet",
        "A message appears here as soon as it is accepted.",
    );
    let place = Place {
        title: "Messages".to_owned(),
        section: Section::Messages,
        path: PATH.to_owned(),
        export: "/console/exports/recipients.csv".to_owned(),
        empty: empty.action("Send messages", "/console/send"),
    };
    listed(&visitor, &queries(&visitor)?, place).await
}

/// Shows a list of messages. A message ID leads to its message.
pub(super) async fn listed(visitor: &Visitor, queries: &CustomerQueries, place: Place) -> Answered {
    let (query, path) = (visitor.query(), place.path);
    let mut unknown = None;
    if let Some(id) = query.find("message_id").map(str::trim) {
        match message_or_reason(queries.message(id).await)? {
            Ok(found) => return Ok(visitor.redirect(&format!("{path}/{}", found.id))),
            Err(reason) => unknown = Some(reason),
        }
    }
    let found = queries.messages(&filter(query), page_fields(query)).await;
    let (found, error) = page_or_reason(found)?;
    let is_filtered = FILTERS.iter().any(|name| query.find(name).is_some());
    let empty = if is_filtered {
        Empty::new(
            "No message fits",
            "Clear a filter, or search a longer time.",
        )
    } else {
        place.empty
    };
    let rows = found.items.iter();
    let rows = rows.map(|message| row(message, format!("{path}/{}", message.id)));
    let screen = screens::Messages {
        shell: visitor.shell(&place.title, place.section),
        filters: filters(query),
        is_filtered,
        error: unknown.or(error),
        pager: pager(&path, query, &FILTERS, &found, "message"),
        rows: rows.collect(),
        empty,
        export: Some(address(&place.export, query, &FILTERS, None)),
        href: path,
    };
    Ok(visitor.answer(&screen))
}

/// The filters of the list, in the query.
pub(super) const FILTERS: [&str; 8] = [
    "recipient",
    "sender",
    "state",
    "delivery_status",
    "customer_reference",
    "gateway",
    "since",
    "until",
];

pub(super) fn filter(query: &Form) -> FilterFields {
    let field = |name: &str| query.find(name).map(str::to_owned);
    // A browser writes `2026-11-29T16:06`, and the interface reads seconds.
    let moment = |name: &str| field(name).map(|text| moment(&text));
    FilterFields {
        since: moment("since"),
        until: moment("until"),
        recipient: field("recipient"),
        sender: field("sender"),
        gateway: field("gateway"),
        state: field("state"),
        delivery_status: field("delivery_status"),
        customer_reference: field("customer_reference"),
        ..FilterFields::default()
    }
}

pub(super) fn filters(query: &Form) -> Vec<Field> {
    let mut states = vec![Choice::new("", "Any")];
    states.extend(
        MessageState::ALL
            .iter()
            .map(|one| Choice::new(one.as_str(), state(*one).1)),
    );
    let text = |name: &str, label: &str| optional(Field::text(name, label), query);
    let mut statuses = vec![Choice::new("", "Any")];
    statuses.extend(
        StatusFilter::ALL
            .iter()
            .map(|one| Choice::new(one.as_str(), status_word(*one))),
    );
    vec![
        text("message_id", "Message ID"),
        text("recipient", "Number").inputmode("tel"),
        text("sender", "Sender ID"),
        text("customer_reference", "Reference"),
        optional(Field::new(Kind::Select(states), "state", "State"), query),
        optional(
            Field::new(Kind::Select(statuses), "delivery_status", "Recipient"),
            query,
        ),
        optional(
            Field::new(Kind::Input("datetime-local"), "since", "From"),
            query,
        ),
        optional(
            Field::new(Kind::Input("datetime-local"), "until", "Before"),
            query,
        ),
    ]
}

/// Returns the row of a message, which leads to an address.
pub(super) fn row(message: &Message, href: String) -> MessageRow {
    MessageRow {
        href,
        at_ms: message.created_at_ms,
        sender: message.sender.clone(),
        text: match &message.body {
            Some(body) => body.chars().take(MAX_EXCERPT_CHARACTERS).collect(),
            None => no_text(message).to_owned(),
        },
        account: None,
        state: badge(message.state),
        recipients: count(message.recipients),
        delivered: percent(message.delivered, message.recipients),
        cost: naira(message.cost - message.refunded),
    }
}

const fn no_text(message: &Message) -> &'static str {
    if message.is_personalised {
        "Each recipient has a text of its own."
    } else {
        "The text is not kept."
    }
}

const fn state(state: MessageState) -> (Tone, &'static str) {
    match state {
        MessageState::Scheduled => (Tone::Waiting, "Scheduled"),
        MessageState::Sending => (Tone::Waiting, "Sending"),
        MessageState::Paused => (Tone::Warning, "Paused"),
        MessageState::Completed => (Tone::Good, "Completed"),
        MessageState::Cancelled => (Tone::Bad, "Cancelled"),
    }
}

fn badge(of: MessageState) -> Badge {
    let (tone, word) = state(of);
    Badge::new(tone, word)
}

/// `GET /console/messages/{id}`.
pub(super) async fn message(visitor: Visitor) -> Answered {
    let queries = queries(&visitor)?;
    let message = queries.message(visitor.param("id")).await?;
    let changes = message_changes::offered(&visitor, &message);
    let links = message_changes::links(&visitor, &message);
    let place = (PATH, Section::Messages);
    shown(&visitor, &queries, place, message, (changes, links)).await
}

/// Shows a message of a list with its changes and links. With `part=progress` it answers the progress
/// alone.
pub(super) async fn shown(
    visitor: &Visitor,
    queries: &CustomerQueries,
    (list, section): (&str, Section),
    message: Message,
    (changes, links): (Vec<Confirm>, Vec<(String, String)>),
) -> Answered {
    let (query, id) = (visitor.query(), message.id.to_string());
    let path = format!("{list}/{id}");
    let is_live = matches!(
        message.state,
        MessageState::Sending | MessageState::Scheduled
    );
    let progress = MessageProgress {
        refresh: is_live.then(|| format!("{path}?part=progress")),
        ..progress(&message)
    };
    if query.get("part") == "progress" {
        return Ok(visitor.answer(&progress));
    }
    let fields = FilterFields {
        delivery_status: query.find("status").map(str::to_owned),
        ..FilterFields::default()
    };
    let found = queries.recipients(&id, &fields, page_fields(query)).await?;
    let title = format!("Message from {}", message.sender);
    let screen = screens::Message {
        shell: visitor.shell(&title, section),
        back: list.to_owned(),
        changes,
        links,
        progress,
        no_text: no_text(&message).to_owned(),
        facts: facts(&message),
        tabs: status_tabs(&path, query.get("status")),
        recipients: found
            .items
            .iter()
            .map(|one| recipient_row(&path, one))
            .collect(),
        empty: Empty::new("No recipient", "No recipient has this status."),
        pager: pager(&path, query, &["status"], &found, "recipient"),
        text: message.body,
    };
    Ok(visitor.answer(&screen))
}

/// Returns the progress of a message, which is not refreshed.
pub(super) fn progress(message: &Message) -> MessageProgress {
    let share = |part| percent(part, message.recipients);
    let mut cost = Figure::new("Cost", naira(message.cost));
    if !message.refunded.is_zero() {
        cost = cost.note(Tone::Plain, format!("{} refunded", naira(message.refunded)));
    }
    MessageProgress {
        refresh: None,
        state: badge(message.state),
        figures: vec![
            Figure::new("Recipients", count(message.recipients)),
            Figure::new("Delivered", count(message.delivered))
                .note(Tone::Good, share(message.delivered)),
            Figure::new("Failed", count(message.failed)).note(Tone::Bad, share(message.failed)),
            Figure::new("Pending", count(message.pending))
                .note(Tone::Waiting, share(message.pending)),
            cost,
        ],
    }
}

pub(super) fn facts(message: &Message) -> Vec<(String, String)> {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("Message ID", message.id.to_string()),
        fact("Sender ID", message.sender.clone()),
        fact("Gateway", message.gateway.as_str().to_owned()),
        fact("Pages", format!("{} in all", message.pages_total)),
        fact("Accepted", time(message.created_at_ms)),
    ];
    facts.extend(
        message
            .scheduled_for_ms
            .map(|at_ms| fact("Scheduled for", time(at_ms))),
    );
    facts.extend(
        message
            .customer_reference
            .as_ref()
            .map(|reference| fact("Reference", reference.clone())),
    );
    facts
}

fn status_tabs(path: &str, chosen: &str) -> Tabs {
    let names: Vec<String> = StatusFilter::ALL
        .iter()
        .map(|one| status_word(*one))
        .collect();
    let links: Vec<String> = StatusFilter::ALL
        .iter()
        .map(|status| format!("{path}?status={}", status.as_str().replace(' ', "+")))
        .collect();
    let mut tabs = vec![("All", path)];
    tabs.extend(
        names
            .iter()
            .map(String::as_str)
            .zip(links.iter().map(String::as_str)),
    );
    let current = StatusFilter::ALL
        .iter()
        .position(|status| status.as_str() == chosen);
    let current = current.map_or("All", |at| names[at].as_str());
    Tabs::new("Status", current, &tabs)
}

fn status_word(status: StatusFilter) -> String {
    match status {
        StatusFilter::Pending => "Pending".to_owned(),
        other => recipient_badge(other.as_str()).text,
    }
}

fn recipient_row(path: &str, one: &RecipientState) -> RecipientRow {
    RecipientRow {
        href: format!("{path}/{}", one.recipient),
        recipient: one.recipient.to_string(),
        network: one.network.clone(),
        status: recipient_badge(one.delivery_status),
        error: one.error_code.clone().unwrap_or_default(),
        pages: one.pages.to_string(),
        cost: naira(one.cost - one.refunded),
        at_ms: one.updated_at_ms,
    }
}

/// `GET /console/exports/recipients.csv`, with the filters of the list.
pub(super) async fn export(visitor: Visitor) -> Answered {
    let export = queries(&visitor)?.export_recipients(&filter(visitor.query()))?;
    exported(export, "recipients.csv").await
}
