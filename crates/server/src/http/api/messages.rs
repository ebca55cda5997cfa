//! `GET /messages` and the paths below it (docs/spec/finding.md).

mod changes;
mod item;
mod recipients;
mod timeline;

pub(crate) use changes::{CancelData, cancel, pause, reschedule, resume};
pub(crate) use item::{MessageData, MessageItem, changed_answer};
pub(crate) use recipients::{RecipientItem, recipients, recipients_answer};
pub(crate) use timeline::{TimelineData, recipient};

use super::list::List;
use crate::http::extract::call::Listing;
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;

/// Lists the messages of the account.
pub(crate) async fn messages(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let (fields, queries) = listing.queries().await?;
        let found = queries.messages(&fields.filter, fields.page()).await?;
        Ok::<_, Failure>(messages_answer(found, environment))
    };
    call.answer(found.await)
}

/// Returns the envelope of a page of messages.
pub(crate) fn messages_answer(
    found: engine::ListPage<engine::Message>,
    environment: Environment,
) -> Envelope<List<MessageItem>> {
    let list = List::new(found, environment, MessageItem::new);
    Envelope::new("Messages retrieved.", list)
}

/// Reads one message.
pub(crate) async fn message(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let id = listing.part(0)?;
        let (_, queries) = listing.queries().await?;
        let message = queries.message(&id).await?;
        Ok::<_, Failure>(message_answer(message, environment))
    };
    call.answer(found.await)
}

/// Returns the envelope of one message.
pub(crate) fn message_answer(
    message: engine::Message,
    environment: Environment,
) -> Envelope<MessageData> {
    changed_answer(message, environment, "Message retrieved.")
}
