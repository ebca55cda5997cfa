//! The messages of a sub-account, as its parent reads them.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::messages::no_text;
use super::messages::{
    FILTERS, ROWS, facts, filter, filters, progress, recipient_row, row, status_tabs,
};
use super::recipient;
use super::shared::{address, exported, message_or_reason, page_or_reason, pager};
use super::sub_account_parts::{path, queries_of, sub_account};
use console::Section;
use console::parts::Empty;
use console::screens::{self, MessageProgress, MessageRow};
use domain::search::FilterFields;
use engine::PageFields;

fn page_fields(query: &Form) -> PageFields<'_> {
    PageFields {
        limit: Some(ROWS),
        cursor: query.find("cursor"),
    }
}

/// `GET /console/sub-accounts/{id}/messages`. A message ID leads to its message.
pub(super) async fn list(visitor: Visitor) -> Answered {
    let (query, sub) = (visitor.query(), sub_account(&visitor).await?);
    let (queries, mut unknown) = (queries_of(&visitor, &sub).await?, None);
    let path = format!("{}/messages", path(sub.account.id));
    if let Some(id) = query.find("message_id").map(str::trim) {
        match message_or_reason(queries.message(id).await)? {
            Ok(found) => return Ok(visitor.redirect(&format!("{path}/{}", found.id))),
            Err(reason) => unknown = Some(reason),
        }
    }
    let found = queries.messages(&filter(query), page_fields(query)).await;
    let (found, error) = page_or_reason(found)?;
    let rows = found.items.iter().map(|message| MessageRow {
        href: format!("{path}/{}", message.id),
        ..row(message)
    });
    let title = format!("Messages of {}", sub.account.name);
    let screen = screens::Messages {
        shell: visitor.shell(&title, Section::SubAccounts),
        filters: filters(query),
        is_filtered: FILTERS.iter().any(|name| query.find(name).is_some()),
        error: unknown.or(error),
        pager: pager(&path, query, &FILTERS, &found, "message"),
        rows: rows.collect(),
        empty: Empty::new(
            "No message fits",
            "The sub-account has sent no such message. Clear a filter, or search a longer time.",
        ),
        export: Some(address(&format!("{path}.csv"), query, &FILTERS, None)),
        href: path,
    };
    Ok(visitor.answer(&screen))
}

/// `GET /console/sub-accounts/{id}/messages.csv`, with the filters of the list.
pub(super) async fn export(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let queries = queries_of(&visitor, &sub).await?;
    let export = queries.export_recipients(&filter(visitor.query()))?;
    exported(export, "recipients.csv").await
}

/// `GET /console/sub-accounts/{id}/messages/{message}`. With `part=progress` it answers the progress
/// alone.
pub(super) async fn message(visitor: Visitor) -> Answered {
    let (query, sub) = (visitor.query(), sub_account(&visitor).await?);
    let queries = queries_of(&visitor, &sub).await?;
    let (id, list) = (
        visitor.param("message"),
        format!("{}/messages", path(sub.account.id)),
    );
    let message = queries.message(id).await?;
    let path = format!("{list}/{}", message.id);
    let progress = MessageProgress {
        refresh: progress(&message)
            .refresh
            .map(|_| format!("{path}?part=progress")),
        ..progress(&message)
    };
    if query.get("part") == "progress" {
        return Ok(visitor.answer(&progress));
    }
    let fields = FilterFields {
        delivery_status: query.find("status").map(str::to_owned),
        ..FilterFields::default()
    };
    let found = queries.recipients(id, &fields, page_fields(query)).await?;
    let title = format!("Message from {}", message.sender);
    let screen = screens::Message {
        shell: visitor.shell(&title, Section::SubAccounts),
        back: list,
        changes: Vec::new(),
        links: Vec::new(),
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

/// `GET /console/sub-accounts/{id}/messages/{message}/{recipient}`.
pub(super) async fn one(visitor: Visitor) -> Answered {
    let sub = sub_account(&visitor).await?;
    let queries = queries_of(&visitor, &sub).await?;
    let (id, number) = (visitor.param("message"), visitor.param("recipient"));
    let message = queries.message(id).await?;
    let found = queries.recipient(id, number).await?;
    let shell = visitor.shell(&found.recipient.recipient.to_string(), Section::SubAccounts);
    let back = format!("{}/messages/{id}", path(sub.account.id));
    Ok(visitor.answer(&recipient::screen(shell, back, &message, &found)))
}
