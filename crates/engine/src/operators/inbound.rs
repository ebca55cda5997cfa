//! The operations on inbound messages and their routes.

use super::accounts::{account, scope_of};
use super::actor::Actor;
use super::error::{OperationError, Result};
use super::page::{Page, PageRequest};
use crate::context::random::Random;
use crate::queries::inbound::MAX_EXAMINED;
use domain::inbound::{self, AnswerChange, AnswerTexts, InboundMessage, InboundRoute};
use domain::search::{FilterFields, InboundFilter, List};
use domain::smpp_user::SmppUser;
use domain::{AccountId, callback_url};
use store::{AddedRoute, Outcome, RemovedRoute, RouteOwner, Store};

/// Inbound messages: list; routes: add, list, remove.
pub struct Inbound {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

/// The values of a new route.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RouteFields {
    /// The number.
    pub number: String,
    /// The keyword, or `None` for all other texts.
    pub keyword: Option<String>,
    /// The URL that gets the messages.
    pub url: Option<String>,
    /// The SMPP user that gets the messages, in place of a URL.
    pub smpp_user: Option<String>,
    /// `true` if the URL may lead to an address outside the public internet.
    pub allow_private: bool,
}

impl Inbound {
    /// Gives a number, or one keyword of it, to an account. A route that the account has gets the
    /// new URL.
    pub async fn add_route(self, id: AccountId, fields: &RouteFields) -> Result<InboundRoute> {
        account(&self.store, id).await?;
        let by = self.actor.now();
        let keyword = fields.keyword.as_deref().map(inbound::keyword);
        if let Some(url) = &fields.url {
            callback_url::check_stored(url, fields.allow_private)?;
        }
        if let Some(system_id) = &fields.smpp_user {
            self.check_user(id, system_id).await?;
        }
        let route = InboundRoute {
            id: format!("rt_{:016x}", Random::system().number()),
            number: inbound::number(&fields.number)?,
            keyword: keyword.transpose()?.unwrap_or_default(),
            account: id,
            url: fields.url.clone(),
            smpp_user: fields.smpp_user.clone(),
            is_given: true,
            created_at_ms: by.at_ms,
        };
        let routes = self.store.inbound_routes();
        match routes.add(route, RouteOwner::Operator, by).await? {
            AddedRoute::Added(route) => Ok(route),
            AddedRoute::Taken
            | AddedRoute::NotGiven
            | AddedRoute::TooMany
            | AddedRoute::UnknownUser => Err(OperationError::RouteTaken),
        }
    }

    /// Refuses an SMPP user that the account does not have, that is revoked, or that is one of the
    /// sandbox, which has no inbound messages.
    async fn check_user(&self, account: AccountId, system_id: &str) -> Result<()> {
        let found = self.store.smpp_users().find(system_id).await?;
        let is_usable = |user: &SmppUser| {
            user.account == account && user.revoked_at_ms.is_none() && !user.sandbox
        };
        match found {
            Some((user, _)) if is_usable(&user) => Ok(()),
            _ => Err(OperationError::NoSmppUser(system_id.to_owned())),
        }
    }

    /// Removes a route. The messages that it took stay with its account.
    pub async fn remove_route(self, id: &str) -> Result<()> {
        let routes = self.store.inbound_routes();
        let removed = routes.remove(id, RouteOwner::Operator, self.actor.now());
        match removed.await? {
            RemovedRoute::Removed => Ok(()),
            RemovedRoute::Unknown | RemovedRoute::Given => {
                Err(OperationError::NoRoute(id.to_owned()))
            }
        }
    }

    /// Returns a page of the routes of all accounts or of one, by account and newest first.
    pub async fn routes(
        self,
        account: Option<AccountId>,
        request: &PageRequest,
    ) -> Result<Page<InboundRoute>> {
        let scope = scope_of(account);
        let behind = request.behind(List::InboundRoutes, &scope)?;
        let routes = self.store.inbound_routes();
        let rows = routes.list(account, behind, request.rows()).await?;
        Ok(request.page(List::InboundRoutes, &scope, rows))
    }

    /// Returns the texts with which an account answers commands of subscribers.
    pub async fn answers(self, id: AccountId) -> Result<AnswerTexts> {
        Ok(self.store.inbound_answers().texts(id).await?)
    }

    /// Changes the texts with which an account answers commands. A text that is not given stays.
    pub async fn set_answers(self, id: AccountId, change: AnswerChange) -> Result<AnswerTexts> {
        let (change, by) = (change.read()?, self.actor.now());
        let answers = self.store.inbound_answers();
        match answers.set_texts(id, change, None, by).await? {
            Outcome::Made(texts) => Ok(texts),
            Outcome::Refused(refusal) => Err(refusal.into()),
            // A change without a key has no stored answer.
            Outcome::Replay(_) => Err(OperationError::NoAccount(id)),
        }
    }

    /// Returns a page of the inbound messages of one account, or of all accounts and the operator,
    /// newest first.
    pub async fn messages(
        self,
        id: Option<AccountId>,
        fields: &FilterFields,
        request: &PageRequest,
    ) -> Result<Page<InboundMessage>> {
        if let Some(id) = id {
            account(&self.store, id).await?;
        }
        let filter = InboundFilter::read(fields)?;
        let scope = scope_of(id);
        let behind: Option<String> = request.behind(List::OperatorInbound, &scope)?;
        let mut behind = behind.and_then(|id| id.parse().ok());
        let inbound = self.store.inbound_messages();
        let mut rows = Vec::new();
        // A command waits for the whole page, and reads it in bounded steps.
        loop {
            let left = request
                .rows()
                .saturating_sub(u32::try_from(rows.len()).unwrap_or(u32::MAX));
            let found = inbound
                .list(id, &filter, behind, (left, MAX_EXAMINED))
                .await?;
            rows.extend(found.messages);
            match found.ends_at {
                Some(ends_at) => behind = Some(ends_at),
                None => break,
            }
        }
        Ok(request.page(List::OperatorInbound, &scope, rows))
    }
}
