//! The revision, by which a running server notices a change of accounts, and the audit, which names
//! the accounts.

use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Result, STARTED, Tx, query};
use domain::AccountId;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Audit entries that are read for the changed accounts. With more entries, any account may have
/// changed.
const MAX_ENTRIES: i64 = 1_000;

/// The mark that counts requests to reload the configuration. It is also their name in the audit.
const RELOADS: &str = "reloads";

const RELOAD: &str = "config.reload";

/// The revision of accounts, tokens, sender IDs, callback secrets, paused blocks and content rules.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Revision {
    /// Start of the database server in Unix microseconds, or 0 without a server. A server that
    /// replaces it may have lost changes and counted other ones.
    pub server: i64,
    /// The count of changes. It also rises with some that change nothing.
    pub number: i64,
    /// The latest entry of the audit. Each change has one, and so have other events.
    pub audited: i64,
    /// The count of reload requests by operators.
    pub reloads: i64,
}

impl Revision {
    /// Returns `true` if anything may have changed since then.
    pub fn is_another_than(self, then: Self) -> bool {
        (self.server, self.number) != (then.server, then.number)
    }

    /// Returns `true` if the audit covers all changes since then, with at least one entry for each.
    /// An import makes changes without entries, and a change without effect has none.
    fn is_told_since(self, then: Self) -> bool {
        let (changes, entries) = (self.number - then.number, self.audited - then.audited);
        self.server == then.server && changes > 0 && (changes..=MAX_ENTRIES).contains(&entries)
    }
}

/// Raises the revision in the transaction of the change. The change also adds an entry to the
/// audit, unless it has no effect.
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

/// The revision of a database, and the changes between two.
#[derive(Clone, Copy)]
pub struct Revisions<'s> {
    pub(crate) db: &'s Db,
}

impl Revisions<'_> {
    /// Returns the current revision.
    pub async fn current(self) -> Result<Revision> {
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

    /// Asks all nodes to reload their configuration. It returns the count of such requests.
    pub async fn ask_reload(self, by: By) -> Result<i64> {
        self.db.change(AskReload { by }).await
    }

    /// Returns the accounts changed between two revisions, or `None` if any account may have
    /// changed.
    pub async fn changed_accounts(
        self,
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
    fn the_audit_names_the_changed_accounts_unless_there_are_many() {
        let revision = |server, number, audited| Revision {
            server,
            number,
            audited,
            reloads: 0,
        };
        let then = revision(7, 3, 9);
        for (now, is_another, is_told) in [
            (then, false, false),
            // An entry of the audit alone changes nothing that is cached.
            (revision(7, 3, 12), false, false),
            (revision(7, 4, 10), true, true),
            (revision(7, 4, 1_009), true, true),
            (revision(7, 4, 1_010), true, false),
            // This is an import.
            (revision(7, 4, 9), true, false),
            (revision(7, 5, 10), true, false),
            // This is another server, which lost the latest changes or has others instead.
            (revision(8, 2, 8), true, false),
            (revision(8, 3, 9), true, false),
            (revision(8, 4, 11), true, false),
            // This is the same case with an unknown start of the server.
            (revision(7, 2, 8), true, false),
            (revision(7, 2, 10), true, false),
        ] {
            assert_eq!(now.is_another_than(then), is_another, "{now:?}");
            assert_eq!(now.is_told_since(then), is_told, "{now:?}");
        }
    }
}
