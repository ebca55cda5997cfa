//! The questions of a customer about messages, their recipients and the events of each.

use crate::context::Context;
use crate::context::live::Live;
use crate::error::{Error, within};
use crate::queries::messages::{self, Message};
use crate::queries::recipients::{self, RecipientState, Timeline};
use crate::queries::scope::{Listed, Scope};
use domain::search::{FilterFields, List, MessageFilter, Page, read_status};
use domain::{AccountId, Environment};
use std::sync::Arc;

/// The fields of a page of a list, as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFields<'a> {
    /// The most items.
    pub limit: Option<&'a str>,
    /// The cursor of the page before.
    pub cursor: Option<&'a str>,
}

/// The questions of one customer.
#[derive(Clone)]
pub struct Finding {
    pub(super) context: Arc<Context>,
    pub(super) live: Arc<Live>,
    pub(super) account: AccountId,
    pub(super) environment: Environment,
}

impl Finding {
    /// A page of the account's messages, newest first.
    pub async fn messages(
        &self,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<Listed<Message>, Error> {
        let filter = MessageFilter::read(fields, self.environment)?;
        let scope = self.scope();
        let of_cursor = scope.of_cursor(None);
        let page = Page::read(page.limit, page.cursor, List::Messages, &of_cursor)?;
        within(messages::list(&scope, &filter, page)).await
    }

    /// One message of the account.
    pub async fn message(&self, id: &str) -> Result<Message, Error> {
        within(messages::one(&self.scope(), id)).await
    }

    /// A page of the recipients of a message.
    pub async fn recipients(
        &self,
        id: &str,
        fields: &FilterFields,
        page: PageFields<'_>,
    ) -> Result<Listed<RecipientState>, Error> {
        let status = read_status(fields)?;
        let page = (page.limit, page.cursor);
        within(recipients::list(&self.scope(), id, status, page)).await
    }

    /// One recipient of a message, with its events.
    pub async fn recipient(&self, id: &str, number: &str) -> Result<Timeline, Error> {
        within(recipients::one(&self.scope(), id, number)).await
    }

    fn scope(&self) -> Scope<'_> {
        let rules = &self.live.plan.rules;
        Scope {
            store: &self.context.store,
            account: Some(self.account),
            environment: self.environment,
            now_ms: self.context.clock.now_ms(),
            plan: &rules.plan,
            rules: Some(rules),
        }
    }
}
