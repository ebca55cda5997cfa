//! The scope of a query, and the pages of its results.

use domain::search::{Cursor, List, Page, Position};
use domain::{AccountId, Environment, MessageId, NumberPlan, Rulebook};
use serde::Serialize;
use store::Store;

/// A page of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListPage<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page, or `None` at the end of the list.
    pub next_cursor: Option<String>,
}

impl<T> ListPage<T> {
    /// Returns the page of a list without items.
    pub(crate) const fn empty() -> Self {
        Self {
            items: Vec::new(),
            next_cursor: None,
        }
    }
}

/// The scope of a query, and the sources of its values.
pub(crate) struct Scope<'a> {
    pub(crate) store: &'a Store,
    /// The account, or `None` for the messages of all accounts.
    pub(crate) account: Option<AccountId>,
    pub(crate) environment: Environment,
    pub(crate) now_ms: i64,
    pub(crate) plan: &'a NumberPlan,
    /// The current prices. A command of an operator has no prices.
    pub(crate) rules: Option<&'a Rulebook>,
}

impl Scope<'_> {
    /// Returns the scope of a cursor. A cursor of another account, environment or message is
    /// refused.
    pub(crate) fn cursor_scope(&self, message: Option<MessageId>) -> Vec<u8> {
        let account = self.account.map_or(0, |account| account.0);
        let mut scope = account.to_be_bytes().to_vec();
        scope.push(u8::from(self.environment == Environment::Sandbox));
        if let Some(message) = message {
            scope.extend_from_slice(message.0.as_bytes());
        }
        scope
    }

    /// Returns the cursor of the page after a message.
    pub(super) fn after_message(&self, list: List, message: MessageId) -> String {
        let position = Position {
            id: message.number(),
            place: 0,
        };
        position.encode(list, &self.cursor_scope(None))
    }

    /// Returns the page of items, of which one more was read than the page has.
    pub(super) fn cut<T>(
        &self,
        list: List,
        page: Page,
        mut items: Vec<T>,
        position: impl Fn(&T) -> Position,
    ) -> ListPage<T> {
        let limit = page.limit as usize;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let end = items.last().filter(|_| has_more);
        let next_cursor = end.map(|end| position(end).encode(list, &self.cursor_scope(None)));
        ListPage { items, next_cursor }
    }

    /// Returns the page of items with keys, of which one more was read than the page has.
    pub(super) fn cut_by_key<T, K: Serialize>(
        &self,
        list: List,
        limit: u32,
        mut items: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> ListPage<T> {
        let limit = limit as usize;
        let has_more = items.len() > limit;
        items.truncate(limit);
        let end = items.last().filter(|_| has_more);
        let cursor = end.map(|end| Cursor::after(&key(end), list, &self.cursor_scope(None)));
        ListPage {
            items,
            next_cursor: cursor.map(|cursor| cursor.as_str().to_owned()),
        }
    }

    /// Returns the cursor of the page after a recipient of a message.
    pub(super) fn after_recipient(&self, message: MessageId, place: usize) -> String {
        let position = Position {
            id: message.number(),
            place: place as u64,
        };
        position.encode(List::Recipients, &self.cursor_scope(Some(message)))
    }
}
