//! The entry of the audit that records the limits of the configuration. An operator changes them in
//! the file, so a start records them if they differ from the last entry.

use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Error, Result, Tx, query};
use serde_json::{Map, Value};

const CONFIGURE: &str = "limits.configure";

struct Configure {
    limits: Value,
    by: By,
}

impl Change for Configure {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let before = configured(tx).await?;
        let is_off = self.limits.as_object().is_some_and(Map::is_empty);
        if before == self.limits || (before.is_null() && is_off) {
            return Ok(false);
        }
        let entry = Entry {
            by: &self.by,
            verb: CONFIGURE,
            account: None,
            object: "",
            before,
            after: self.limits.clone(),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, changed: &bool) -> Result<bool> {
        Ok(!changed || audit::is_kept(tx, &self.by, CONFIGURE, "").await?)
    }
}

/// Returns the limits of the last entry, or `null` if there is none.
async fn configured(tx: &mut Tx) -> Result<Value> {
    let text: Option<String> = tx
        .fetch_optional(
            query("select after from audit where verb = $1 order by number desc limit 1")
                .bind(CONFIGURE),
        )
        .await?;
    let read = |text: String| serde_json::from_str(&text);
    text.map_or(Ok(Value::Null), read)
        .map_err(|_| Error::Unreadable("limits in the audit".to_owned()))
}

/// The record of the limits of the configuration.
#[derive(Clone, Copy)]
pub struct AuditedLimits<'s> {
    pub(crate) db: &'s Db,
}

impl AuditedLimits<'_> {
    /// Adds an entry with the limits that a node uses, as an object. Returns `false` if the last
    /// entry has the same limits already. Nodes that start at the same moment may each add an entry.
    pub async fn record(self, limits: Value, by: By) -> Result<bool> {
        self.db.change(Configure { limits, by }).await
    }
}
