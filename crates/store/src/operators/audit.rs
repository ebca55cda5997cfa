//! The audit: changes by operators. A change and its entry share a transaction, and entries are
//! only added.

use crate::lists::ListRow;
use database::{Db, Result, Tx, query};
use domain::AccountId;
use serde_json::Value;
use std::sync::Arc;

/// The mark that counts entries. Two writers wait for each other on it, so that no number is left
/// out.
pub(crate) const COUNT: &str = "audit";

/// The author and time of a change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct By {
    /// An operator (`cli:ada`), a node (`node:…`) or a customer's token (`api:…`).
    pub actor: Arc<str>,
    /// Time, Unix milliseconds.
    pub at_ms: i64,
}

/// An entry in the list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditEntry {
    /// The number of the entry, from 1.
    pub number: i64,
    /// Time, Unix milliseconds.
    pub at_ms: i64,
    /// The author.
    pub actor: String,
    /// The action: the command, with dots between its words.
    pub verb: String,
    /// The account concerned.
    pub account_id: Option<i64>,
    /// The object within the account, if there are several.
    pub object: String,
    /// The state before, as JSON: `null` if it did not exist.
    pub before: String,
    /// The state after, as JSON: `null` if it is gone.
    pub after: String,
}

database::from_row!(AuditEntry {
    number,
    at_ms,
    actor,
    verb,
    account_id,
    object,
    before,
    after
});

impl ListRow for AuditEntry {
    /// The number.
    type Key = i64;

    fn key(&self) -> i64 {
        self.number
    }
}

/// A new entry.
pub(crate) struct Entry<'e> {
    pub(crate) by: &'e By,
    pub(crate) verb: &'static str,
    pub(crate) account: Option<AccountId>,
    pub(crate) object: &'e str,
    pub(crate) before: Value,
    pub(crate) after: Value,
}

/// Adds an entry in the transaction of its change.
pub(crate) async fn enter(tx: &mut Tx, entry: Entry<'_>) -> Result<()> {
    let number: i64 = tx
        .fetch_one(
            query(
                "insert into marks (name, value) values ($1, 1)
         on conflict (name) do update set value = marks.value + 1 returning value",
            )
            .bind(COUNT),
        )
        .await?;
    tx.execute(
        query(
            "insert into audit (number, at_ms, actor, verb, account_id, object, before, after)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(number)
        .bind(entry.by.at_ms)
        .bind(&*entry.by.actor)
        .bind(entry.verb)
        .bind(entry.account.map(|account| account.0))
        .bind(entry.object)
        .bind(entry.before.to_string())
        .bind(entry.after.to_string()),
    )
    .await?;
    Ok(())
}

/// Returns `true` if an entry of this time about this object exists, which proves that its change
/// was committed.
pub(crate) async fn is_kept(tx: &mut Tx, by: &By, verb: &str, object: &str) -> Result<bool> {
    let found: Option<i64> = tx
        .fetch_optional(
            query(
                "select number from audit where at_ms = $1 and actor = $2 and verb = $3
         and object = $4
         limit 1",
            )
            .bind(by.at_ms)
            .bind(&*by.actor)
            .bind(verb)
            .bind(object),
        )
        .await?;
    Ok(found.is_some())
}

/// The audit of operators.
#[derive(Clone, Copy)]
pub struct Audit<'s> {
    pub(crate) db: &'s Db,
}

impl Audit<'_> {
    /// Returns some entries before one, of all or about one account, the latest first.
    pub async fn list(
        self,
        account: Option<AccountId>,
        behind: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>> {
        let entries = self
            .db
            .fetch_all(
                query(
                    "select * from audit where number < $1 and (account_id = $2 or $2 = -1)
                 order by number desc limit $3",
                )
                .bind(behind.unwrap_or(i64::MAX))
                .bind(account.map_or(-1, |account| account.0))
                .bind(i64::from(limit)),
            )
            .await?;
        Ok(entries)
    }
}
