//! Lists that are read page by page. Each row has a key, and a page begins behind the key of the
//! row before it. So a row that is added meanwhile neither repeats nor hides another.

use domain::AccountId;

/// A row of a list that has pages.
pub trait ListRow {
    /// The values by which the list is ordered.
    type Key;

    /// Returns the key of the row.
    fn key(&self) -> Self::Key;
}

/// The key of a row that belongs to an account: the account, the time of creation and the id.
pub type AccountRowKey = (i64, i64, String);

/// Returns the lowest account of a list, and the key behind which a page of it begins. The list has
/// the rows of one account or of all, the highest key first.
pub(crate) fn page_of(
    account: Option<AccountId>,
    behind: Option<AccountRowKey>,
) -> (AccountId, AccountRowKey) {
    let (lowest, highest) = match account {
        Some(one) => (one, one),
        None => (AccountId(i64::MIN), AccountId(i64::MAX)),
    };
    let behind = behind.unwrap_or((highest.0, i64::MAX, String::new()));
    (lowest, behind)
}
