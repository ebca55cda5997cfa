//! The changes of routes: add and remove.

use crate::accounts::revision::touch;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Result, Tx, query};
use domain::AccountId;
use domain::inbound::{InboundRoute, MAX_ROUTES};
use serde_json::{Value, json};

const ADD: &str = "inbound.route.add";

const REMOVE: &str = "inbound.route.remove";

pub(super) struct RouteRow {
    route_id: String,
    number: String,
    keyword: String,
    account_id: i64,
    url: Option<String>,
    smpp_user: Option<String>,
    given: bool,
    created_at_ms: i64,
}

database::from_row!(RouteRow {
    route_id,
    number,
    keyword,
    account_id,
    url,
    smpp_user,
    given,
    created_at_ms
});

impl From<RouteRow> for InboundRoute {
    fn from(row: RouteRow) -> Self {
        Self {
            id: row.route_id,
            number: row.number,
            keyword: row.keyword,
            account: AccountId(row.account_id),
            url: row.url,
            smpp_user: row.smpp_user,
            is_given: row.given,
            created_at_ms: row.created_at_ms,
        }
    }
}

/// The author of a change of a route, which decides what may be changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RouteOwner {
    /// The operator.
    Operator,
    /// The account itself: it changes its own routes of numbers that the operator gave to it.
    Account(AccountId),
}

/// The result of adding a route.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AddedRoute {
    /// The account has the route now.
    Added(InboundRoute),
    /// The number, with this keyword, belongs to another account.
    Taken,
    /// The operator did not give the number to the account.
    NotGiven,
    /// The account has as many routes as it may make.
    TooMany,
    /// The account has no valid SMPP user of this name that gets inbound messages.
    UnknownUser,
}

/// The result of removing a route.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RemovedRoute {
    /// The route is gone.
    Removed,
    /// There is no such route.
    Unknown,
    /// The operator gave the route, and an account cannot remove it.
    Given,
}

pub(super) struct AddRoute {
    pub(super) route: InboundRoute,
    pub(super) owner: RouteOwner,
    pub(super) by: By,
}

impl AddRoute {
    /// Returns the route that the account has already, if it has one, or why it cannot get one.
    async fn decide(
        &self,
        tx: &mut Tx,
    ) -> Result<std::result::Result<Option<InboundRoute>, AddedRoute>> {
        let route = &self.route;
        let is_of_account = matches!(self.owner, RouteOwner::Account(_));
        let routes = of_number(tx, &route.number).await?;
        let is_own = |one: &InboundRoute| {
            one.account == route.account && (one.keyword.is_empty() || one.keyword == route.keyword)
        };
        // An account learns nothing of the routes of a number that it does not have.
        if is_of_account && !routes.iter().any(is_own) {
            return Ok(Err(AddedRoute::NotGiven));
        }
        if is_of_account && !self.has_user(tx).await? {
            return Ok(Err(AddedRoute::UnknownUser));
        }
        let mut routes = routes.into_iter();
        if let Some(known) = routes.find(|one| one.keyword == route.keyword) {
            let has_it = known.account == route.account;
            return Ok(has_it.then_some(Some(known)).ok_or(AddedRoute::Taken));
        }
        if is_of_account {
            let count = query("select count(*) from inbound_routes where account_id = $1");
            let count: Option<i64> = tx.fetch_optional(count.bind(route.account.0)).await?;
            if count.is_some_and(|count| count.unsigned_abs() >= MAX_ROUTES as u64) {
                return Ok(Err(AddedRoute::TooMany));
            }
        }
        Ok(Ok(None))
    }

    /// Returns `true` if the account has the SMPP user of the route, or if the route has none. The
    /// sandbox has no inbound messages.
    async fn has_user(&self, tx: &mut Tx) -> Result<bool> {
        let Some(system_id) = &self.route.smpp_user else {
            return Ok(true);
        };
        let find = query(
            "select system_id from smpp_users
             where system_id = $1 and account_id = $2 and sandbox = $3 and revoked_at_ms is null",
        );
        let find = find.bind(system_id).bind(self.route.account.0).bind(false);
        let found: Option<String> = tx.fetch_optional(find).await?;
        Ok(found.is_some())
    }

    async fn insert(&self, tx: &mut Tx) -> Result<()> {
        let route = &self.route;
        let insert = query(
            "insert into inbound_routes (route_id, number, keyword, account_id, url, given,
                 created_at_ms, smpp_user)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
        );
        let insert = insert.bind(&route.id).bind(&route.number);
        let insert = insert.bind(&route.keyword).bind(route.account.0);
        let insert = insert.bind(&route.url).bind(route.is_given);
        let insert = insert.bind(route.created_at_ms);
        tx.execute(insert.bind(&route.smpp_user)).await?;
        audit::enter(tx, self.entry(Value::Null)).await
    }

    fn entry(&self, before: Value) -> Entry<'_> {
        let route = &self.route;
        Entry {
            by: &self.by,
            verb: ADD,
            account: Some(route.account),
            object: &route.number,
            before,
            after: json!({
                "keyword": route.keyword,
                "has_url": route.url.is_some(),
                "smpp_user": route.smpp_user,
            }),
        }
    }
}

impl Change for AddRoute {
    type Output = AddedRoute;

    async fn apply(&self, tx: &mut Tx) -> Result<AddedRoute> {
        // A refused request must not raise the revision, which makes nodes read accounts again.
        if let Err(refused) = self.decide(tx).await? {
            return Ok(refused);
        }
        // The revision is the lock of every change of a route, so the decision is repeated under
        // it.
        touch(tx).await?;
        let known = match self.decide(tx).await? {
            Ok(known) => known,
            Err(refused) => return Ok(refused),
        };
        let Some(known) = known else {
            self.insert(tx).await?;
            return Ok(AddedRoute::Added(self.route.clone()));
        };
        let InboundRoute { url, smpp_user, .. } = self.route.clone();
        // An account that names neither keeps the SMPP user of the route.
        let smpp_user = match self.owner {
            RouteOwner::Account(_) if url.is_none() => smpp_user.or(known.smpp_user.clone()),
            RouteOwner::Account(_) | RouteOwner::Operator => smpp_user,
        };
        let update =
            query("update inbound_routes set url = $2, smpp_user = $3 where route_id = $1");
        let update = update.bind(&known.id).bind(&url).bind(&smpp_user);
        tx.execute(update).await?;
        let before = json!({ "has_url": known.url.is_some(), "smpp_user": known.smpp_user });
        audit::enter(tx, self.entry(before)).await?;
        Ok(AddedRoute::Added(InboundRoute {
            url,
            smpp_user,
            ..known
        }))
    }

    async fn is_committed(&self, tx: &mut Tx, added: &AddedRoute) -> Result<bool> {
        match added {
            AddedRoute::Added(_) => audit::is_kept(tx, &self.by, ADD, &self.route.number).await,
            AddedRoute::Taken
            | AddedRoute::NotGiven
            | AddedRoute::TooMany
            | AddedRoute::UnknownUser => Ok(true),
        }
    }
}

pub(super) struct RemoveRoute {
    pub(super) id: String,
    pub(super) owner: RouteOwner,
    pub(super) by: By,
}

impl RemoveRoute {
    /// Returns the route, or why it cannot be removed.
    async fn decide(&self, tx: &mut Tx) -> Result<std::result::Result<InboundRoute, RemovedRoute>> {
        let find = query("select * from inbound_routes where route_id = $1").bind(&self.id);
        let found: Option<RouteRow> = tx.fetch_optional(find).await?;
        let Some(route) = found.map(InboundRoute::from) else {
            return Ok(Err(RemovedRoute::Unknown));
        };
        Ok(match self.owner {
            RouteOwner::Account(account) if account != route.account => Err(RemovedRoute::Unknown),
            RouteOwner::Account(_) if route.is_given => Err(RemovedRoute::Given),
            RouteOwner::Account(_) | RouteOwner::Operator => Ok(route),
        })
    }
}

impl Change for RemoveRoute {
    type Output = RemovedRoute;

    async fn apply(&self, tx: &mut Tx) -> Result<RemovedRoute> {
        if let Err(refused) = self.decide(tx).await? {
            return Ok(refused);
        }
        touch(tx).await?;
        let route = match self.decide(tx).await? {
            Ok(route) => route,
            Err(refused) => return Ok(refused),
        };
        tx.execute(query("delete from inbound_routes where route_id = $1").bind(&self.id))
            .await?;
        let mut own_routes = 0;
        if route.keyword.is_empty() {
            // The account has the number no longer, so its own keywords of it end too.
            let own = query(
                "delete from inbound_routes
                 where number = $1 and account_id = $2 and given = $3",
            );
            let own = own.bind(&route.number).bind(route.account.0).bind(false);
            own_routes = tx.execute(own).await?;
        }
        let entry = Entry {
            by: &self.by,
            verb: REMOVE,
            account: Some(route.account),
            object: &self.id,
            before: json!({
                "number": route.number,
                "keyword": route.keyword,
                "own_routes": own_routes,
            }),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(RemovedRoute::Removed)
    }

    async fn is_committed(&self, tx: &mut Tx, removed: &RemovedRoute) -> Result<bool> {
        match removed {
            RemovedRoute::Removed => audit::is_kept(tx, &self.by, REMOVE, &self.id).await,
            RemovedRoute::Unknown | RemovedRoute::Given => Ok(true),
        }
    }
}

async fn of_number(tx: &mut Tx, number: &str) -> Result<Vec<InboundRoute>> {
    let find = query("select * from inbound_routes where number = $1");
    let rows: Vec<RouteRow> = tx.fetch_all(find.bind(number)).await?;
    Ok(rows.into_iter().map(InboundRoute::from).collect())
}
