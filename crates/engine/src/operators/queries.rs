//! The queries of operators for the messages, money and usage of all accounts.

use super::accounts::account;
use super::error::{OperationError, Result};
use super::page::{Page, PageRequest};
use crate::context::clock::Clock;
use crate::error::Error;
use crate::queries::export::{RecipientsExport, WalletExport};
use crate::queries::messages::{self, Message};
use crate::queries::recipients::{self, OutcomeCount, Timeline};
use crate::queries::scope::{ListPage, Scope};
use crate::queries::usage::{self, Usage};
use domain::search::{Cursor, FilterFields, List, MessageFilter, UsageFilter, WalletFilter};
use domain::{AccountId, Environment, Refusal, Rulebook};
use store::Store;

/// The messages that a query covers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueryScope {
    /// The account, or `None` for all accounts.
    pub account: Option<AccountId>,
    /// The environment.
    pub environment: Environment,
}

/// Messages, money and usage: list, show, add up, export.
pub struct Queries {
    pub(super) store: Store,
    pub(super) clock: Clock,
    /// The rules of the configuration, for networks and prices.
    pub(super) rules: Rulebook,
}

/// A message with its outcomes and some of its recipients.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MessageDetails {
    /// The environment.
    pub environment: Environment,
    /// The message.
    pub message: Message,
    /// The outcomes of all recipients, the most frequent first.
    pub outcomes: Vec<OutcomeCount>,
    /// The recipients with their events.
    pub recipients: Vec<Timeline>,
}

impl Queries {
    fn scope(&self, of: QueryScope) -> Scope<'_> {
        Scope {
            store: &self.store,
            account: of.account,
            environment: of.environment,
            now_ms: self.clock.now_ms(),
            plan: &self.rules.plan,
            rules: Some(&self.rules),
        }
    }

    /// Refuses an account that does not exist.
    async fn check_account(&self, of: QueryScope) -> Result<()> {
        if let Some(id) = of.account {
            account(&self.store, id).await?;
        }
        Ok(())
    }

    /// Returns a page of messages, newest first, of all accounts or of one.
    pub async fn messages(
        &self,
        of: QueryScope,
        fields: &FilterFields,
        request: &PageRequest,
    ) -> Result<Page<Message>> {
        self.check_account(of).await?;
        let filter = MessageFilter::read(fields, of.environment)?;
        let scope = self.scope(of);
        let page = request.position(List::Messages, &scope.cursor_scope(None))?;
        Ok(messages::list(&scope, &filter, page).await?.into())
    }

    /// Returns a message of any account and environment, with one recipient or the first ones.
    pub async fn message(
        &self,
        id: &str,
        recipient: Option<&str>,
        most_recipients: u32,
    ) -> Result<MessageDetails> {
        let (of, message) = self.find(id).await?;
        let scope = self.scope(of);
        let outcomes = recipients::outcomes(&scope, &message).await?;
        let numbers = if let Some(number) = recipient {
            vec![number.to_owned()]
        } else {
            let most = usize::try_from(most_recipients).unwrap_or(usize::MAX);
            let first = recipients::range(&scope, &message, 0, most).await?;
            first.iter().map(|one| one.recipient.to_string()).collect()
        };
        let mut timelines = Vec::with_capacity(numbers.len());
        for number in numbers {
            timelines.push(recipients::find(&scope, id, &number).await?);
        }
        Ok(MessageDetails {
            environment: of.environment,
            message,
            outcomes,
            recipients: timelines,
        })
    }

    /// Returns a message of any account and environment, with the scope that has it.
    pub(super) async fn find(&self, id: &str) -> Result<(QueryScope, Message)> {
        let live = QueryScope {
            account: None,
            environment: Environment::Live,
        };
        match messages::find(&self.scope(live), id).await {
            Err(Error::Refused(Refusal::UnknownMessage)) => {
                let sandbox = QueryScope {
                    environment: Environment::Sandbox,
                    ..live
                };
                let found = messages::find(&self.scope(sandbox), id).await?;
                Ok((sandbox, found))
            }
            found => Ok((live, found?)),
        }
    }

    /// Returns a page of the groups of a usage report of an account.
    pub async fn usage(
        &self,
        of: QueryScope,
        fields: &FilterFields,
        request: &PageRequest,
    ) -> Result<Page<Usage>> {
        self.check_account(of).await?;
        let filter = UsageFilter::read(fields)?;
        let scope = self.scope(of);
        let page = request.position(List::Usage, &scope.cursor_scope(None))?;
        Ok(usage::list(&scope, filter, page).await?.into())
    }

    /// Returns an export of recipients as CSV.
    pub async fn export_recipients(
        &self,
        of: QueryScope,
        fields: &FilterFields,
    ) -> Result<Export<'_>> {
        self.check_account(of).await?;
        let filter = MessageFilter::read(fields, of.environment)?;
        Ok(Export {
            scope: self.scope(of),
            rows: Rows::Recipients(RecipientsExport::new(filter)),
        })
    }

    /// Returns an export of the entries of an account's wallet as CSV.
    pub async fn export_wallet(&self, id: AccountId, fields: &FilterFields) -> Result<Export<'_>> {
        let of = QueryScope {
            account: Some(id),
            environment: Environment::Live,
        };
        self.check_account(of).await?;
        let filter = WalletFilter::read(fields)?;
        Ok(Export {
            scope: self.scope(of),
            rows: Rows::Wallet(WalletExport::new(id, filter)),
        })
    }
}

/// The rows of an export.
enum Rows {
    Recipients(RecipientsExport),
    Wallet(WalletExport),
}

/// An export, which is read in batches of rows.
pub struct Export<'q> {
    scope: Scope<'q>,
    rows: Rows,
}

impl Export<'_> {
    /// Returns the next rows, or `None` at the end. The first rows begin with the header.
    pub async fn next(&mut self) -> Result<Option<String>> {
        let next = match &mut self.rows {
            Rows::Recipients(export) => export.next(&self.scope).await,
            Rows::Wallet(export) => export.next(&self.scope).await,
        };
        Ok(next?)
    }
}

impl<T> From<ListPage<T>> for Page<T> {
    fn from(found: ListPage<T>) -> Self {
        Self {
            items: found.items,
            next: found.next_cursor.map(Cursor::new),
        }
    }
}

impl From<Refusal> for OperationError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::UnknownMessage => Self::NoMessage,
            Refusal::TooLate(why) => Self::TooLate(why),
            other => Self::Filter(other.to_string()),
        }
    }
}

impl From<Error> for OperationError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::Store(cause) => Self::Query(cause),
        }
    }
}
