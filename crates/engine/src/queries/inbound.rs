//! Pages of inbound messages.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::inbound::InboundMessage;
use domain::search::{InboundFilter, List, Page, Position};
use domain::{AccountId, MessageId};

/// Maximum number of messages that a filter examines for a page. At this number the page ends early,
/// and its cursor continues the search.
pub(crate) const MAX_EXAMINED: u32 = 20_000;

/// Returns a page of the inbound messages of an account, newest first.
pub(crate) async fn messages(
    scope: &Scope<'_>,
    account: AccountId,
    filter: &InboundFilter,
    page: Page,
) -> Result<ListPage<InboundMessage>, Error> {
    let behind = page.after.map(|after| MessageId::from_number(after.id));
    let inbound = scope.store.inbound_messages();
    let rows = (page.limit + 1, MAX_EXAMINED);
    let found = inbound.list(Some(account), filter, behind, rows).await?;
    if let Some(ends_at) = found.ends_at {
        let next = scope.after_message(List::Inbound, ends_at);
        return Ok(ListPage {
            items: found.messages,
            next_cursor: Some(next),
        });
    }
    let position = |last: &InboundMessage| Position {
        id: last.id.number(),
        place: 0,
    };
    Ok(scope.cut(List::Inbound, page, found.messages, position))
}
