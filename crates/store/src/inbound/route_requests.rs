//! The changes of routes at the request of their account, with their refusals.

use super::route_changes::{AddRoute, AddedRoute, RemoveRoute, RemovedRoute, RouteOwner};
use crate::operators::audit::By;
use database::{Change, Result, Tx};
use domain::inbound::{InboundRoute, MAX_ROUTES};
use domain::{AccountId, ObjectRefusal, Refusal};

pub(super) struct RequestRoute(AddRoute);

impl RequestRoute {
    pub(super) fn new(route: InboundRoute, by: By) -> Self {
        let owner = RouteOwner::Account(route.account);
        Self(AddRoute { route, owner, by })
    }
}

impl Change for RequestRoute {
    type Output = std::result::Result<InboundRoute, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        Ok(match self.0.apply(tx).await? {
            AddedRoute::Added(route) => Ok(route),
            AddedRoute::Taken => Err(Refusal::Object(ObjectRefusal::KeywordTaken)),
            AddedRoute::NotGiven => Err(Refusal::Object(ObjectRefusal::UnknownNumber)),
            AddedRoute::UnknownUser => Err(Refusal::Object(ObjectRefusal::UnknownSmppUser)),
            AddedRoute::TooMany => Err(Refusal::Object(ObjectRefusal::RoutesUsed {
                limit: MAX_ROUTES,
            })),
        })
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(route) => {
                let added = AddedRoute::Added(route.clone());
                self.0.is_committed(tx, &added).await
            }
            Err(_) => Ok(true),
        }
    }
}

pub(super) struct GiveUpRoute(RemoveRoute);

impl GiveUpRoute {
    pub(super) fn new(account: AccountId, id: &str, by: By) -> Self {
        Self(RemoveRoute {
            id: id.to_owned(),
            owner: RouteOwner::Account(account),
            by,
        })
    }
}

impl Change for GiveUpRoute {
    /// The id of the route.
    type Output = std::result::Result<String, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        Ok(match self.0.apply(tx).await? {
            RemovedRoute::Removed => Ok(self.0.id.clone()),
            RemovedRoute::Unknown => Err(Refusal::Object(ObjectRefusal::UnknownRoute)),
            RemovedRoute::Given => Err(Refusal::Object(ObjectRefusal::RouteGiven)),
        })
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(_) => self.0.is_committed(tx, &RemovedRoute::Removed).await,
            Err(_) => Ok(true),
        }
    }
}
