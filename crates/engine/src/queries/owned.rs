//! Pages of what an account owns: routes of inbound messages, opt-outs, tokens, top-ups,
//! sub-accounts and SMPP users.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::alert::Alert;
use domain::inbound::InboundRoute;
use domain::opt_out::OptOut;
use domain::payment::{TopUp, TopUpId};
use domain::search::{KeyPage, List, Page, Position};
use domain::smpp_user::{SmppUser, id_of_number, number_of_id};
use domain::{AccountId, MessageId};
use store::{ListRow, SubAccount, TokenInfo};

/// The prefixes of ids.
const ROUTE: &str = "rt_";
const TOKEN: &str = "tok_";
const ALERT: &str = "al_";

/// The account, the time of creation and the id of an object, by which a list is ordered.
type Behind = (i64, i64, String);

/// Returns a page of the routes of an account, newest first.
pub(crate) async fn routes(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<InboundRoute>, Error> {
    let routes = scope.store.inbound_routes();
    let behind = behind(account, &page, ROUTE);
    let items = routes.list(Some(account), behind, page.limit + 1).await?;
    let position = |last: &InboundRoute| position(last.created_at_ms, &last.id, ROUTE);
    Ok(scope.cut(List::InboundRoutes, page, items, position))
}

/// Returns a page of the opt-outs of an account, newest first.
pub(crate) async fn opt_outs(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<OptOut>, Error> {
    let behind = page.after.map(|after| MessageId::from_number(after.id));
    let opt_outs = scope.store.opt_outs();
    let items = opt_outs.list(account, behind, page.limit + 1).await?;
    let position = |last: &OptOut| Position {
        id: last.id.number(),
        place: 0,
    };
    Ok(scope.cut(List::OptOuts, page, items, position))
}

/// Returns a page of the tokens of an account, newest first.
pub(crate) async fn tokens(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<TokenInfo>, Error> {
    let tokens = scope.store.tokens();
    let behind = behind(account, &page, TOKEN);
    let items = tokens.list(Some(account), behind, page.limit + 1).await?;
    let position = |last: &TokenInfo| position(last.created_at_ms, &last.id, TOKEN);
    Ok(scope.cut(List::OwnTokens, page, items, position))
}

/// Returns a page of the top-ups of an account, newest first.
pub(crate) async fn top_ups(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<TopUp>, Error> {
    let behind = page.after.map(|after| TopUpId::from_number(after.id));
    let top_ups = scope.store.top_ups();
    let items = top_ups.list(account, scope.environment, behind, page.limit + 1);
    let position = |last: &TopUp| Position {
        id: last.id.number(),
        place: 0,
    };
    Ok(scope.cut(List::TopUps, page, items.await?, position))
}

/// Returns a page of the sub-accounts of an account, newest first.
pub(crate) async fn sub_accounts(
    scope: &Scope<'_>,
    account: AccountId,
    page: KeyPage<i64>,
) -> Result<ListPage<SubAccount>, Error> {
    let sub_accounts = scope.store.sub_accounts();
    let items = sub_accounts
        .list(account, page.after, page.limit + 1)
        .await?;
    Ok(scope.cut_by_key(List::SubAccounts, page.limit, items, ListRow::key))
}

/// Returns a page of the alerts of an account, newest first.
pub(crate) async fn alerts(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<Alert>, Error> {
    let behind = behind(account, &page, ALERT).map(|(_, at_ms, id)| (at_ms, id));
    let alerts = scope.store.alerts();
    let items = alerts.list(account, behind, page.limit + 1).await?;
    let position = |last: &Alert| position(last.created_at_ms, &last.id, ALERT);
    Ok(scope.cut(List::Alerts, page, items, position))
}

/// Returns a page of the SMPP users of an account, newest first.
pub(crate) async fn smpp_users(
    scope: &Scope<'_>,
    account: AccountId,
    page: Page,
) -> Result<ListPage<SmppUser>, Error> {
    let behind = page.after.map(|after| {
        let created_at_ms = i64::try_from(after.id).unwrap_or(i64::MAX);
        (account.0, created_at_ms, id_of_number(after.place))
    });
    let users = scope.store.smpp_users();
    let items = users.list(Some(account), behind, page.limit + 1).await?;
    let position = |last: &SmppUser| Position {
        id: last.created_at_ms.unsigned_abs().into(),
        place: number_of_id(&last.system_id),
    };
    Ok(scope.cut(List::OwnSmppUsers, page, items, position))
}

fn behind(account: AccountId, page: &Page, prefix: &str) -> Option<Behind> {
    page.after.map(|after| {
        let created_at_ms = i64::try_from(after.id).unwrap_or(i64::MAX);
        (account.0, created_at_ms, id_of(prefix, after.place))
    })
}

fn position(created_at_ms: i64, id: &str, prefix: &str) -> Position {
    Position {
        id: created_at_ms.unsigned_abs().into(),
        place: number_of(prefix, id),
    }
}

/// Returns the id of an object from its number.
fn id_of(prefix: &str, number: u64) -> String {
    format!("{prefix}{number:016x}")
}

/// Returns the number in an id, by which objects of one moment are ordered.
fn number_of(prefix: &str, id: &str) -> u64 {
    let digits = id.strip_prefix(prefix).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_object_makes_its_id() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(number_of(TOKEN, &id_of(TOKEN, number)), number);
        }
    }
}
