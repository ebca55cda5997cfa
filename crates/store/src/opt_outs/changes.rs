//! The changes of opt-outs: add and remove.

use super::row::OptOutRow;
use crate::accounts::revision::touch;
use crate::operators::audit::{self, By, Entry};
use crate::rows::{id_bytes, number};
use database::{Change, Error, Result, Tx, bulk, query, value};
use domain::opt_out::OptOut;
use domain::{AccountId, ObjectRefusal, Recipient, Refusal, sender};
use serde_json::{Value, json};

const ADD: &str = "opt-out.add";

const REMOVE: &str = "opt-out.remove";

/// The result of adding opt-outs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AddedOptOuts {
    /// The number of new ones.
    pub added: u64,
    /// The number of those that were there before.
    pub known: u64,
    /// The first of them, as it is stored now.
    pub first: OptOut,
}

/// Begins a change of an account's opt-outs, and returns their number. It locks the account, so that
/// the number stays right.
async fn begin(tx: &mut Tx, account: AccountId) -> Result<u64> {
    let first = query(
        "insert into opt_out_accounts (account_id, opt_outs) values ($1, 0)
         on conflict do nothing",
    );
    if tx.execute(first.bind(account.0)).await? > 0 {
        // Nodes read the account again, and look for its opt-outs from then on.
        touch(tx).await?;
    }
    let lock = query(
        "update opt_out_accounts set opt_outs = opt_outs where account_id = $1
         returning opt_outs",
    );
    let count: i64 = tx.fetch_one(lock.bind(account.0)).await?;
    Ok(count.unsigned_abs())
}

/// Changes the number of an account's opt-outs.
async fn count(tx: &mut Tx, account: AccountId, difference: i64) -> Result<()> {
    let update =
        query("update opt_out_accounts set opt_outs = opt_outs + $2 where account_id = $1");
    tx.execute(update.bind(account.0).bind(difference)).await?;
    Ok(())
}

/// Inserts opt-outs of one account. Returns the number of new ones.
async fn insert(tx: &mut Tx, account: AccountId, opt_outs: &[OptOut]) -> Result<u64> {
    let insert = bulk(
        "insert into opt_outs (account_id, recipient, sender_key, opt_out_id, sender, reason,
             created_at_ms)
         values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
        "insert into opt_outs (account_id, recipient, sender_key, opt_out_id, sender, reason,
             created_at_ms)
         select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::text[],
             $6::text[], $7::bigint[])
         on conflict do nothing",
    );
    let insert = insert.rows(opt_outs, |one| {
        let sender = one.sender.as_deref().unwrap_or_default();
        [
            value(account.0),
            value(number(one.recipient)),
            value(sender::key(sender)),
            value(id_bytes(&one.id)),
            value(sender),
            value(one.reason.as_deref().unwrap_or_default()),
            value(one.created_at_ms),
        ]
    });
    let added = tx.execute_each(insert).await?;
    count(tx, account, i64::try_from(added).unwrap_or(i64::MAX)).await?;
    Ok(added)
}

pub(super) struct Add {
    pub(super) account: AccountId,
    pub(super) opt_outs: Vec<OptOut>,
    /// The maximum number of opt-outs after the change.
    pub(super) limit: Option<u64>,
    pub(super) by: By,
}

impl Add {
    /// Returns the object of the audit: the id of the first opt-out.
    fn object(&self) -> String {
        let first = self.opt_outs.first();
        first.map(|one| one.id.to_string()).unwrap_or_default()
    }

    async fn first(&self, tx: &mut Tx) -> Result<Option<OptOut>> {
        let Some(first) = self.opt_outs.first() else {
            return Ok(None);
        };
        let sender = first.sender.as_deref().unwrap_or_default();
        let find = query(
            "select * from opt_outs where account_id = $1 and recipient = $2 and sender_key = $3",
        );
        let find = find.bind(self.account.0).bind(number(first.recipient));
        let found: Option<OptOutRow> = tx.fetch_optional(find.bind(sender::key(sender))).await?;
        found.map(OptOutRow::opt_out).transpose()
    }
}

impl Change for Add {
    type Output = std::result::Result<AddedOptOuts, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let count = begin(tx, self.account).await? + self.opt_outs.len() as u64;
        if let Some(limit) = self.limit.filter(|limit| count > *limit) {
            return Ok(Err(Refusal::Object(ObjectRefusal::OptOutsUsed { limit })));
        }
        let added = insert(tx, self.account, &self.opt_outs).await?;
        let first = self.first(tx).await?;
        let first = first.ok_or_else(|| Error::Unreadable("an opt-out".to_owned()))?;
        if added > 0 {
            let object = self.object();
            let entry = Entry {
                by: &self.by,
                verb: ADD,
                account: Some(self.account),
                object: &object,
                before: Value::Null,
                after: json!({ "added": added }),
            };
            audit::enter(tx, entry).await?;
        }
        let known = (self.opt_outs.len() as u64).saturating_sub(added);
        Ok(Ok(AddedOptOuts {
            added,
            known,
            first,
        }))
    }

    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        match made {
            Ok(added) if added.added > 0 => audit::is_kept(tx, &self.by, ADD, &self.object()).await,
            Ok(_) | Err(_) => Ok(true),
        }
    }
}

pub(super) struct Remove {
    pub(super) account: AccountId,
    pub(super) recipient: Recipient,
    pub(super) by: By,
}

impl Remove {
    /// Returns the first opt-out of the number.
    async fn first(&self, tx: &mut Tx) -> Result<Option<OptOut>> {
        let find = query(
            "select * from opt_outs where account_id = $1 and recipient = $2
             order by opt_out_id limit 1",
        );
        let find = find.bind(self.account.0).bind(number(self.recipient));
        let found: Option<OptOutRow> = tx.fetch_optional(find).await?;
        found.map(OptOutRow::opt_out).transpose()
    }
}

impl Change for Remove {
    /// The number of removed opt-outs.
    type Output = std::result::Result<u64, Refusal>;

    async fn apply(&self, tx: &mut Tx) -> Result<Self::Output> {
        let unknown = Ok(Err(Refusal::Object(ObjectRefusal::UnknownOptOut)));
        // An account without an opt-out must not count as one with opt-outs.
        if self.first(tx).await?.is_none() {
            return unknown;
        }
        begin(tx, self.account).await?;
        let Some(first) = self.first(tx).await? else {
            return unknown;
        };
        let removed = remove(tx, self.account, self.recipient).await?;
        let entry = Entry {
            by: &self.by,
            verb: REMOVE,
            account: Some(self.account),
            object: &first.id.to_string(),
            before: json!({ "removed": removed }),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(Ok(removed))
    }

    /// A removal that was lost is found by the opt-out that is still there.
    async fn is_committed(&self, tx: &mut Tx, made: &Self::Output) -> Result<bool> {
        if made.is_err() {
            return Ok(true);
        }
        let find = query(
            "select recipient from opt_outs where account_id = $1 and recipient = $2 limit 1",
        );
        let find = find.bind(self.account.0).bind(number(self.recipient));
        let found: Option<i64> = tx.fetch_optional(find).await?;
        Ok(found.is_none())
    }
}

/// Removes all opt-outs of a number. Returns how many there were.
async fn remove(tx: &mut Tx, account: AccountId, recipient: Recipient) -> Result<u64> {
    let remove = query("delete from opt_outs where account_id = $1 and recipient = $2");
    let remove = remove.bind(account.0).bind(number(recipient));
    let removed = tx.execute(remove).await?;
    count(tx, account, -i64::try_from(removed).unwrap_or(i64::MAX)).await?;
    Ok(removed)
}

/// Keeps the opt-out of a subscriber. One that opted out before keeps its opt-out.
pub(crate) async fn opt_out(tx: &mut Tx, opt_out: &OptOut) -> Result<()> {
    begin(tx, opt_out.account).await?;
    insert(tx, opt_out.account, std::slice::from_ref(opt_out)).await?;
    Ok(())
}

/// Removes the opt-outs of a subscriber.
pub(crate) async fn opt_in(tx: &mut Tx, account: AccountId, recipient: Recipient) -> Result<()> {
    let find = query("select account_id from opt_out_accounts where account_id = $1");
    let found: Option<i64> = tx.fetch_optional(find.bind(account.0)).await?;
    if found.is_some() {
        begin(tx, account).await?;
        remove(tx, account, recipient).await?;
    }
    Ok(())
}
