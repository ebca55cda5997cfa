//! The revision, which tells a running server that something about accounts has changed, and the audit, which says whose.

use crate::Store;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Result, STARTED, Tx, query};
use domain::AccountId;
use serde_json::{Value, json};
use std::collections::HashSet;

/// How many entries of the audit are looked at for whose what has changed is. Where there are more, it may be anybody's.
const MOST_ENTRIES: i64 = 1_000;
/// The mark that counts how often nodes were asked to read their configuration again, and what the audit calls it.
const RELOADS: &str = "reloads";
const RELOAD: &str = "config.reload";

/// How far changes have come of accounts, tokens, sender IDs, secrets of callbacks, paused blocks and content rules.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Revision {
    /// When the server of the database started, in Unix microseconds; 0 where there is none. Another one that takes its
    /// place may have lost changes, and counted others since.
    pub server: i64,
    /// Rises with each, and with some that come to nothing.
    pub number: i64,
    /// The latest entry of the audit, which has one for each change, and others.
    pub audited: i64,
    /// How often an operator has asked all nodes to read their configuration again.
    pub reloads: i64,
}

impl Revision {
    /// Whether something may have changed since then.
    pub fn is_another_than(self, then: Self) -> bool {
        (self.server, self.number) != (then.server, then.number)
    }

    /// Whether the audit tells of all that has changed since then: it has an entry for each rise at least. An import makes
    /// changes without, and what came to nothing has none.
    fn is_told_since(self, then: Self) -> bool {
        let (changes, entries) = (self.number - then.number, self.audited - then.audited);
        self.server == then.server && changes > 0 && (changes..=MOST_ENTRIES).contains(&entries)
    }
}

/// Raises the revision, in the transaction of the change that it tells of. That enters the audit too, unless there is
/// nothing to change.
pub(crate) async fn touch(tx: &mut Tx) -> Result<()> {
    tx.execute(query(
        "insert into marks (name, value) values ('revision', 1)
         on conflict (name) do update set value = marks.value + 1",
    ))
    .await?;
    Ok(())
}

struct AskReload {
    by: By,
}

impl Change for AskReload {
    type Output = i64;

    async fn apply(&self, tx: &mut Tx) -> Result<i64> {
        let asked: i64 = tx
            .fetch_one(
                query(
                    "insert into marks (name, value) values ($1, 1)
             on conflict (name) do update set value = marks.value + 1 returning value",
                )
                .bind(RELOADS),
            )
            .await?;
        let entry = Entry {
            by: &self.by,
            verb: RELOAD,
            account: None,
            object: "",
            before: Value::Null,
            after: json!({ "asked": asked }),
        };
        audit::enter(tx, entry).await?;
        Ok(asked)
    }

    async fn is_committed(&self, tx: &mut Tx, _asked: &i64) -> Result<bool> {
        audit::is_kept(tx, &self.by, RELOAD, "").await
    }
}

impl Store {
    /// How far changes have come by now.
    pub async fn revision(&self) -> Result<Revision> {
        let server = match self.db {
            Db::Sqlite { .. } => "0",
            Db::Postgres { .. } => STARTED,
        };
        let sql = format!(
            "select {server},
                 coalesce((select value from marks where name = 'revision'), 0),
                 coalesce((select value from marks where name = $1), 0),
                 coalesce((select value from marks where name = '{RELOADS}'), 0)"
        );
        let (server, number, audited, reloads) =
            self.db.fetch_one(query(sql).bind(audit::COUNT)).await?;
        Ok(Revision {
            server,
            number,
            audited,
            reloads,
        })
    }

    /// Asks all nodes to read their configuration again; gives how often that was asked.
    pub async fn ask_reload(&self, by: By) -> Result<i64> {
        self.db.change(AskReload { by }).await
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
        let accounts: Vec<(i64,)> = self
            .db
            .fetch_all(
                query(
                    "select distinct account_id from audit
                 where number > $1 and number <= $2 and account_id is not null",
                )
                .bind(then.audited)
                .bind(now.audited),
            )
            .await?;
        let accounts = accounts.into_iter().map(|(id,)| AccountId(id));
        Ok(Some(accounts.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_says_whose_changes_are_where_it_has_one_for_each_and_not_too_many() {
        let revision = |server, number, audited| Revision {
            server,
            number,
            audited,
            reloads: 0,
        };
        let then = revision(7, 3, 9);
        for (now, is_another, is_told) in [
            (then, false, false),
            // What is audited alone is of nothing that is remembered.
            (revision(7, 3, 12), false, false),
            (revision(7, 4, 10), true, true),
            (revision(7, 4, 1_009), true, true),
            (revision(7, 4, 1_010), true, false),
            // An import.
            (revision(7, 4, 9), true, false),
            (revision(7, 5, 10), true, false),
            // Another server, which lost the latest changes, or has others in their place.
            (revision(8, 2, 8), true, false),
            (revision(8, 3, 9), true, false),
            (revision(8, 4, 11), true, false),
            // The same, where none tells when it started.
            (revision(7, 2, 8), true, false),
            (revision(7, 2, 10), true, false),
        ] {
            assert_eq!(now.is_another_than(then), is_another, "{now:?}");
            assert_eq!(now.is_told_since(then), is_told, "{now:?}");
        }
    }
}
