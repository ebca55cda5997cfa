//! Pages of inbound messages.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::inbound::InboundMessage;
use domain::search::{InboundFilter, List, Page, Position};
use domain::{AccountId, MessageId};

/// Returns a page of the inbound messages of an account, newest first.
pub(crate) async fn messages(
    scope: &Scope<'_>,
    account: AccountId,
    filter: &InboundFilter,
    page: Page,
) -> Result<ListPage<InboundMessage>, Error> {
    let behind = page.after.map(|after| MessageId::from_number(after.id));
    let inbound = scope.store.inbound_messages();
    let items = inbound.list(Some(account), filter, behind, page.limit + 1);
    let position = |last: &InboundMessage| Position {
        id: last.id.number(),
        place: 0,
    };
    Ok(scope.cut(List::Inbound, page, items.await?, position))
}
