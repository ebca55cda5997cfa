//! Lists of messages and payments: filters, pages and cursors.

mod accounts;
mod cursor;
mod filter;
mod inbound;
mod recipient_runs;

pub use accounts::AccountSearch;
pub use cursor::{Cursor, List, Position};
pub use filter::{
    EntryKind, FilterFields, MessageFilter, StatusFilter, UsageBy, UsageFilter, WalletFilter,
    read_message, read_status,
};
pub use inbound::InboundFilter;
pub use recipient_runs::{PostingRow, RunSize, RunTimes, next_merge, pack, postings_of};

use crate::refusal::Refusal;
use serde::de::DeserializeOwned;

/// The default number of items of a page.
pub const DEFAULT_LIMIT: u32 = 100;
/// Maximum number of items of a page.
pub const MAX_LIMIT: u32 = 1_000;

/// The requested page of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Page {
    /// The maximum number of items.
    pub limit: u32,
    /// The last item of the previous page, or `None` for the first page.
    pub after: Option<Position>,
}

impl Page {
    /// Parses `limit` and `cursor`. A cursor belongs to one list and scope, such as the recipients
    /// of a message.
    pub fn read(
        limit: Option<&str>,
        cursor: Option<&str>,
        list: List,
        scope: &[u8],
    ) -> Result<Self, Refusal> {
        Ok(Self {
            limit: read_limit(limit)?,
            after: given(cursor)
                .map(|cursor| Position::decode(cursor, list, scope))
                .transpose()?,
        })
    }
}

/// The requested page of a list whose rows have keys.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyPage<K> {
    /// The maximum number of items.
    pub limit: u32,
    /// The key of the last item of the previous page, or `None` for the first page.
    pub after: Option<K>,
}

impl<K: DeserializeOwned> KeyPage<K> {
    /// Parses `limit` and `cursor`.
    pub fn read(
        limit: Option<&str>,
        cursor: Option<&str>,
        list: List,
        scope: &[u8],
    ) -> Result<Self, Refusal> {
        Ok(Self {
            limit: read_limit(limit)?,
            after: given(cursor)
                .map(|cursor| Cursor::new(cursor).read(list, scope))
                .transpose()?,
        })
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn read_limit(limit: Option<&str>) -> Result<u32, Refusal> {
    let Some(text) = given(limit) else {
        return Ok(DEFAULT_LIMIT);
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that overflows exceeds the maximum.
    let limit = text.parse().unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
    if is_number && limit > 0 {
        Ok(limit)
    } else {
        Err(Refusal::Malformed(format!(
            "`limit` must be a whole number from 1 to {MAX_LIMIT}."
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_100_items_by_default() {
        let table = [
            (None, Some(100)),
            (Some(" "), Some(100)),
            (Some("1"), Some(1)),
            (Some(" 1000 "), Some(1_000)),
            (Some("1001"), Some(1_000)),
            (Some("99999999999999999999"), Some(1_000)),
            (Some("0"), None),
            (Some("-1"), None),
            (Some("1.0"), None),
            (Some("all"), None),
        ];
        for (limit, expected) in table {
            let page = Page::read(limit, None, List::Messages, &[]);
            assert_eq!(page.ok().map(|page| page.limit), expected, "{limit:?}");
        }
    }

    #[test]
    fn a_page_begins_after_its_cursor() {
        let position = Position { id: 7, place: 9 };
        let cursor = position.encode(List::Messages, b"7");
        let page = Page::read(None, Some(&cursor), List::Messages, b"7").unwrap();
        assert_eq!(page.after, Some(position));
        assert_eq!(
            Page::read(None, Some(""), List::Messages, b"7")
                .unwrap()
                .after,
            None
        );
        let cursor = Cursor::after(&(7, "id"), List::OwnSecrets, b"7");
        let read = |scope| {
            KeyPage::<(i64, String)>::read(None, Some(cursor.as_str()), List::OwnSecrets, scope)
        };
        assert_eq!(read(b"7").unwrap().after, Some((7, "id".to_owned())));
        assert!(matches!(read(b"8"), Err(Refusal::Malformed(_))));
    }
}
