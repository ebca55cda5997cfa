//! Pages of what an account owns: routes of inbound messages, opt-outs, tokens, top-ups,
//! sub-accounts and SMPP users.

use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::alert::Alert;
use domain::inbound::InboundRoute;
use domain::opt_out::OptOut;
use domain::payment::{TopUp, TopUpId};
use domain::search::{KeyPage, List, Page, Position};
use domain::smpp_user::SmppUser;
use domain::{AccountId, MessageId, ObjectRefusal, Refusal};
use store::{AccountRowKey, ListRow, SubAccount, TokenInfo};

/// The time of creation and the id of an object, by which a list of an account is ordered. A cursor
/// does not name the account, because a customer may change its text.
pub(crate) type CreationKey = (i64, String);

/// Returns a page of the routes of an account, newest first.
pub(crate) async fn routes(
    scope: &Scope<'_>,
    account: AccountId,
    page: KeyPage<CreationKey>,
) -> Result<ListPage<InboundRoute>, Error> {
    let routes = scope.store.inbound_routes();
    let behind = of_account(account, page.after);
    let items = routes.list(Some(account), behind, page.limit + 1).await?;
    Ok(scope.cut_by_key(List::InboundRoutes, page.limit, items, creation_key))
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
    page: KeyPage<CreationKey>,
) -> Result<ListPage<TokenInfo>, Error> {
    let tokens = scope.store.tokens();
    let behind = of_account(account, page.after);
    let items = tokens.list(Some(account), behind, page.limit + 1).await?;
    Ok(scope.cut_by_key(List::OwnTokens, page.limit, items, creation_key))
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

/// Returns one top-up of an account.
pub(crate) async fn top_up(
    scope: &Scope<'_>,
    account: AccountId,
    id: &str,
) -> Result<TopUp, Error> {
    let unknown = || Refusal::from(ObjectRefusal::UnknownTopUp);
    let id = id.parse().map_err(|_| unknown())?;
    let found = scope.store.top_ups().find(id).await?;
    let is_own =
        |top_up: &TopUp| top_up.account == Some(account) && top_up.environment == scope.environment;
    Ok(found.filter(is_own).ok_or_else(unknown)?)
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
    page: KeyPage<CreationKey>,
) -> Result<ListPage<Alert>, Error> {
    let alerts = scope.store.alerts();
    let items = alerts.list(account, page.after, page.limit + 1).await?;
    let key = |last: &Alert| (last.created_at_ms, last.id.clone());
    Ok(scope.cut_by_key(List::Alerts, page.limit, items, key))
}

/// Returns a page of the SMPP users of an account, newest first.
pub(crate) async fn smpp_users(
    scope: &Scope<'_>,
    account: AccountId,
    page: KeyPage<CreationKey>,
) -> Result<ListPage<SmppUser>, Error> {
    let users = scope.store.smpp_users();
    let behind = of_account(account, page.after);
    let items = users.list(Some(account), behind, page.limit + 1).await?;
    Ok(scope.cut_by_key(List::OwnSmppUsers, page.limit, items, creation_key))
}

/// Returns a key of a list of all accounts.
pub(super) fn of_account(account: AccountId, key: Option<CreationKey>) -> Option<AccountRowKey> {
    key.map(|(created_at_ms, id)| (account.0, created_at_ms, id))
}

/// Returns the key of a row in the list of its account.
pub(super) fn creation_key(row: &impl ListRow<Key = AccountRowKey>) -> CreationKey {
    let (_, created_at_ms, id) = row.key();
    (created_at_ms, id)
}
