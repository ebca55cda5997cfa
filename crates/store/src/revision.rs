//! The revision, which tells a running server that something about accounts has changed, and the audit, which says whose.

use crate::Store;
use crate::audit;
use crate::db::Tx;
use crate::error::Result;
use crate::sql::{on, read};
use domain::AccountId;
use std::collections::HashSet;

/// How many entries of the audit are looked at for whose what has changed is. Where there are more, it may be anybody's.
const MOST_ENTRIES: i64 = 1_000;

/// How far changes have come of accounts, tokens, sender IDs, secrets of callbacks, paused blocks and content rules.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Revision {
    /// Rises with each.
    pub number: i64,
    /// The latest entry of the audit, which has one for each of them, and others.
    pub audited: i64,
}

impl Revision {
    /// Whether the audit has an entry for each change since then. An import makes changes without.
    fn is_told_since(self, then: Self) -> bool {
        let (changes, entries) = (self.number - then.number, self.audited - then.audited);
        changes > 0 && (changes..=MOST_ENTRIES).contains(&entries)
    }
}

/// Raises the revision, in the transaction of the change that it tells of. That enters the audit too.
pub(crate) async fn touch(tx: &mut Tx) -> Result<()> {
    on!(tx, |connection| sqlx::query(
        "insert into marks (name, value) values ('revision', 1)
         on conflict (name) do update set value = marks.value + 1",
    )
    .execute(connection)
    .await
    .map(drop))?;
    Ok(())
}

impl Store {
    /// How far changes have come by now.
    pub async fn revision(&self) -> Result<Revision> {
        let (number, audited) = read!(self.db, |connection| {
            sqlx::query_as(
                "select coalesce((select value from marks where name = 'revision'), 0),
                     coalesce((select value from marks where name = $1), 0)",
            )
            .bind(audit::COUNT)
            .fetch_one(connection)
            .await?
        });
        Ok(Revision { number, audited })
    }

    /// The accounts that were changed between two revisions; `None` where these may be any.
    pub async fn changed_accounts(
        &self,
        then: Revision,
        now: Revision,
    ) -> Result<Option<HashSet<AccountId>>> {
        if !now.is_told_since(then) {
            return Ok(None);
        }
        let accounts: Vec<(i64,)> = read!(self.db, |connection| {
            sqlx::query_as(
                "select distinct account_id from audit
                 where number > $1 and number <= $2 and account_id is not null",
            )
            .bind(then.audited)
            .bind(now.audited)
            .fetch_all(connection)
            .await?
        });
        let accounts = accounts.into_iter().map(|(id,)| AccountId(id));
        Ok(Some(accounts.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_says_whose_changes_are_where_it_has_one_for_each_and_not_too_many() {
        let revision = |number, audited| Revision { number, audited };
        for (then, now, is_told) in [
            (revision(3, 9), revision(4, 10), true),
            (revision(3, 9), revision(4, 1_009), true),
            (revision(3, 9), revision(4, 1_010), false),
            // An import.
            (revision(3, 9), revision(4, 9), false),
            (revision(3, 9), revision(5, 10), false),
            // Another server, which lost the latest changes.
            (revision(3, 9), revision(2, 8), false),
            (revision(3, 9), revision(2, 10), false),
        ] {
            assert_eq!(now.is_told_since(then), is_told, "{then:?} {now:?}");
        }
    }
}
