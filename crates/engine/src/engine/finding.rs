//! The queries of a customer for messages, recipients and events.

use crate::context::Context;
use crate::context::live::Live;
use crate::error::{Error, within};
use crate::queries::messages::{self, Message};
use crate::queries::recipients::{self, RecipientState, Timeline};
use crate::queries::scope::{Listed, Scope};
use domain::search::{FilterFields, List, MessageFilter, Page, read_status};
use domain::{AccountId, Environment};
use std::sync::Arc;

/// The unparsed fields of a request for a page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFields<'a> {
    /// The maximum number of items.
    pub limit: Option<&'a str>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<&'a str>,
}

/// The queries of one customer.
#[derive(Clone)]
pub struct Finding {
    pub(super) context: Arc<Context>,
    pub(super) live: Arc<Live>,
    pub(super) account: AccountId,
    pub(super) environment: Environment,
}

impl Finding {
    /// Returns a page of the account's messages, newest first.
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

    /// Returns one message of the account.
    pub async fn message(&self, id: &str) -> Result<Message, Error> {
        within(messages::one(&self.scope(), id)).await
    }

    /// Returns a page of the recipients of a message.
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

    /// Returns one recipient of a message with its events.
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
