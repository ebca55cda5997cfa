//! Pages of lists.

use super::error::{OperationError, Result};
use domain::search::{self, Cursor, DEFAULT_LIMIT, List, MAX_LIMIT, Position};
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::ListRow;

/// A request for a page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageRequest {
    limit: u32,
    cursor: Option<Cursor>,
}

impl PageRequest {
    /// Requests a page of 1 to 1,000 items. It begins after the page that returned the cursor, or
    /// at the first item.
    pub fn new(limit: u32, cursor: Option<Cursor>) -> Self {
        let limit = limit.clamp(1, MAX_LIMIT);
        Self { limit, cursor }
    }

    /// Returns the key after which the page begins. A cursor of another list or of other filters is
    /// refused.
    pub(crate) fn behind<K: DeserializeOwned>(&self, list: List, scope: &str) -> Result<Option<K>> {
        let key = |cursor: &Cursor| {
            let key = cursor.key(list, scope.as_bytes());
            key.ok_or(OperationError::Cursor)
        };
        self.cursor.as_ref().map(key).transpose()
    }

    /// Returns the page of a list that customers have as well. A cursor of another list or of other
    /// filters is refused.
    pub(super) fn position(&self, list: List, scope: &[u8]) -> Result<search::Page> {
        let decode = |cursor: &Cursor| Position::decode(cursor.as_str(), list, scope);
        let after = self.cursor.as_ref().map(decode).transpose();
        Ok(search::Page {
            limit: self.limit,
            after: after.map_err(|_| OperationError::Cursor)?,
        })
    }

    /// Returns the number of rows to read: one more than the page has, to see if another page
    /// follows.
    pub(crate) fn rows(&self) -> u32 {
        self.limit + 1
    }

    /// Returns the page of the rows that were read.
    pub(crate) fn page<T>(&self, list: List, scope: &str, mut rows: Vec<T>) -> Page<T>
    where
        T: ListRow<Key: Serialize>,
    {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let is_last = rows.len() <= limit;
        rows.truncate(limit);
        let end = rows.last().filter(|_| !is_last);
        let next = end.map(|row| Cursor::after(&row.key(), list, scope.as_bytes()));
        Page { items: rows, next }
    }
}

impl Default for PageRequest {
    /// Returns a request for the first page of the default size.
    fn default() -> Self {
        Self::new(DEFAULT_LIMIT, None)
    }
}

/// A page of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page, or `None` at the end of the list.
    pub next: Option<Cursor>,
}
