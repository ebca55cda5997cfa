//! Pages of inbound messages and of their routes.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::inbound::{InboundMessage, InboundRoute};
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
    Ok(cut(scope, List::Inbound, page, items.await?, position))
}

/// Returns a page of the routes of an account, newest first.
pub(crate) async fn routes(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<InboundRoute>, Error> {
    let behind = page.after.map(|after| {
        let created_at_ms = i64::try_from(after.id).unwrap_or(i64::MAX);
        (account.0, created_at_ms, id_of(after.place))
    });
    let routes = scope.store.inbound_routes();
    let items = routes.list(Some(account), behind, page.limit + 1);
    let position = |last: &InboundRoute| Position {
        id: last.created_at_ms.unsigned_abs().into(),
        place: number_of(&last.id),
    };
    let items = items.await?;
    Ok(cut(scope, List::InboundRoutes, page, items, position))
}

/// Returns the id of a route from its number.
fn id_of(number: u64) -> String {
    format!("rt_{number:016x}")
}

/// Returns the number in the id of a route, by which routes of one moment are ordered.
fn number_of(id: &str) -> u64 {
    let digits = id.strip_prefix("rt_").unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or(0)
}

/// Returns the page of items, of which one more was read than the page has.
fn cut<T>(
    scope: &Scope<'_>,
    list: List,
    page: Page,
    mut items: Vec<T>,
    position: impl Fn(&T) -> Position,
) -> ListPage<T> {
    let limit = page.limit as usize;
    let has_more = items.len() > limit;
    items.truncate(limit);
    let end = items.last().filter(|_| has_more);
    let next_cursor = end.map(|end| position(end).encode(list, &scope.cursor_scope(None)));
    ListPage { items, next_cursor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_route_makes_its_id() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(number_of(&id_of(number)), number);
        }
    }
}
