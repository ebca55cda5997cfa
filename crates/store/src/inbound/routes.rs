//! Routes of inbound messages.

use super::route_changes::{AddRoute, AddedRoute, RemoveRoute, RemovedRoute, RouteOwner, RouteRow};
use super::route_requests::{GiveUpRoute, RequestRoute};
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::{AccountRowKey, ListRow, page_of};
use crate::operators::audit::By;
use database::{Db, Result, query};
use domain::AccountId;
use domain::inbound::InboundRoute;

impl ListRow for InboundRoute {
    type Key = AccountRowKey;

    fn key(&self) -> AccountRowKey {
        (self.account.0, self.created_at_ms, self.id.clone())
    }
}

/// The routes of inbound messages.
#[derive(Clone, Copy)]
pub struct InboundRoutes<'s> {
    pub(crate) db: &'s Db,
}

impl InboundRoutes<'_> {
    /// Adds a route. A route that the account has gets the new URL.
    pub async fn add(self, route: InboundRoute, owner: RouteOwner, by: By) -> Result<AddedRoute> {
        self.db.change(AddRoute { route, owner, by }).await
    }

    /// Removes a route. The messages that it took stay with its account.
    pub async fn remove(self, id: &str, owner: RouteOwner, by: By) -> Result<RemovedRoute> {
        let id = id.to_owned();
        self.db.change(RemoveRoute { id, owner, by }).await
    }

    /// Adds a route at the request of its account, or changes its URL.
    pub async fn request(
        self,
        route: InboundRoute,
        keyed: Option<KeyedChange<InboundRoute>>,
        by: By,
    ) -> Result<Outcome<InboundRoute>> {
        let (account, now_ms) = (route.account, by.at_ms);
        let change = RequestRoute::new(route, by);
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Removes a route at the request of its account. Returns its id.
    pub async fn give_up(
        self,
        account: AccountId,
        id: &str,
        keyed: Option<KeyedChange<String>>,
        by: By,
    ) -> Result<Outcome<String>> {
        let now_ms = by.at_ms;
        let change = GiveUpRoute::new(account, id, by);
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Returns the routes of a number.
    pub async fn of_number(self, number: &str) -> Result<Vec<InboundRoute>> {
        let find = query("select * from inbound_routes where number = $1");
        let rows: Vec<RouteRow> = self.db.fetch_all(find.bind(number)).await?;
        Ok(rows.into_iter().map(InboundRoute::from).collect())
    }

    /// Returns all routes of an account.
    pub async fn of(self, account: AccountId) -> Result<Vec<InboundRoute>> {
        let find = query("select * from inbound_routes where account_id = $1");
        let rows: Vec<RouteRow> = self.db.fetch_all(find.bind(account.0)).await?;
        Ok(rows.into_iter().map(InboundRoute::from).collect())
    }

    /// Returns some routes of one account or of all, behind one, by account and newest first.
    pub async fn list(
        self,
        account: Option<AccountId>,
        behind: Option<AccountRowKey>,
        limit: u32,
    ) -> Result<Vec<InboundRoute>> {
        let (lowest, behind) = page_of(account, behind);
        let list = query(
            "select * from inbound_routes
             where account_id >= $1 and (account_id, created_at_ms, route_id) < ($2, $3, $4)
             order by account_id desc, created_at_ms desc, route_id desc limit $5",
        );
        let list = list.bind(lowest.0).bind(behind.0).bind(behind.1);
        let rows: Vec<RouteRow> = self
            .db
            .fetch_all(list.bind(behind.2).bind(i64::from(limit)))
            .await?;
        Ok(rows.into_iter().map(InboundRoute::from).collect())
    }
}
