//! Content rules: phrases that no text may contain, as edited by an operator.

use crate::accounts::revision::touch;
use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Result, Tx, query};
use domain::redact;
use serde_json::{Value, json};

/// A content rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ContentRule {
    /// Lower-case words with a space between them.
    pub phrase: String,
    /// When it was added, Unix milliseconds.
    pub added_at_ms: i64,
}

database::from_row!(ContentRule {
    phrase,
    added_at_ms
});

/// The edit of a phrase.
enum What {
    Add,
    Remove,
}

struct Edit {
    what: What,
    phrase: String,
    by: By,
}

impl Edit {
    fn verb(&self) -> &'static str {
        match self.what {
            What::Add => "content.add",
            What::Remove => "content.remove",
        }
    }

    async fn edit(&self, tx: &mut Tx) -> Result<bool> {
        let changed = match self.what {
            What::Add => {
                tx.execute(
                    query(
                        "insert into content_rules (phrase, added_at_ms) values ($1, $2)
                 on conflict do nothing",
                    )
                    .bind(&self.phrase)
                    .bind(self.by.at_ms),
                )
                .await?
            }
            What::Remove => {
                tx.execute(query("delete from content_rules where phrase = $1").bind(&self.phrase))
                    .await?
            }
        };
        Ok(changed == 1)
    }
}

impl Change for Edit {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if !self.edit(tx).await? {
            return Ok(false);
        }
        touch(tx).await?;
        let rule = json!({ "phrase": redact(&self.phrase) });
        let (before, after) = match self.what {
            What::Add => (Value::Null, rule),
            What::Remove => (rule, Value::Null),
        };
        let entry = Entry {
            by: &self.by,
            verb: self.verb(),
            account: None,
            object: &redact(&self.phrase),
            before,
            after,
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, changed: &bool) -> Result<bool> {
        let object = redact(&self.phrase);
        Ok(!changed || audit::is_kept(tx, &self.by, self.verb(), &object).await?)
    }
}

/// The phrases that no message may hold.
#[derive(Clone, Copy)]
pub struct ContentRules<'s> {
    pub(crate) db: &'s Db,
}

impl ContentRules<'_> {
    /// Adds a phrase. It returns `false` if it exists already.
    pub async fn add(self, phrase: String, by: By) -> Result<bool> {
        let what = What::Add;
        self.db.change(Edit { what, phrase, by }).await
    }

    /// Removes a phrase. It returns `false` if it does not exist.
    pub async fn remove(self, phrase: String, by: By) -> Result<bool> {
        let what = What::Remove;
        self.db.change(Edit { what, phrase, by }).await
    }

    /// Returns all phrases in alphabetical order. Operators keep few of them.
    pub async fn all(self) -> Result<Vec<ContentRule>> {
        let mut rules: Vec<ContentRule> = self
            .db
            .fetch_all(query("select phrase, added_at_ms from content_rules"))
            .await?;
        // They are sorted here, because the databases differ in their order.
        rules.sort_by(|one, other| one.phrase.cmp(&other.phrase));
        Ok(rules)
    }
}
