//! Daily spending limits. The wallet counts the spending of a day, with a limit or without. A
//! charge changes the wallet anyway, and a new limit needs no sum over the charges of the day.

use super::balances::{Owner, lock};
use crate::operators::audit::{self, By, Entry};
use crate::rows::id_bytes;
use database::{Change, Result, Tx, query};
use domain::{AccountId, Bucket, MessageId, Money, day_begins_at, lagos_day};
use serde_json::json;

const VERB: &str = "account.limit";

/// Returns the charges of an account on a day, from the ledger. On SQLite this reads the day of all
/// accounts.
async fn charged(tx: &mut Tx, (bucket, account): Owner, day: i64) -> Result<Money> {
    // Ids of messages grow with time.
    let [first, end] = [day, day + 1].map(|day| MessageId::lowest_at(day_begins_at(day)));
    let units: i64 = tx
        .fetch_one(
            query(
                "select cast(coalesce(-sum(amount), 0) as bigint) from ledger
         where bucket = $1 and account_id = $2 and subject >= $3 and subject < $4
             and kind = 'charge'",
            )
            .bind(bucket.0)
            .bind(account.0)
            .bind(id_bytes(&first))
            .bind(id_bytes(&end)),
        )
        .await?;
    Ok(Money::from_units(units))
}

pub(super) struct SetLimit {
    pub(super) bucket: Bucket,
    pub(super) account: AccountId,
    pub(super) per_day: Option<Money>,
    pub(super) by: By,
}

impl Change for SetLimit {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        set_limit(tx, (self.bucket, self.account), self.per_day, &self.by).await
    }

    async fn is_committed(&self, tx: &mut Tx, found: &bool) -> Result<bool> {
        Ok(!found || audit::is_kept(tx, &self.by, VERB, "").await?)
    }
}

/// Sets the daily limit of an account. It returns `false` if the account does not exist.
pub(crate) async fn set_limit(
    tx: &mut Tx,
    owner: Owner,
    per_day: Option<Money>,
    by: &By,
) -> Result<bool> {
    let Some(wallet) = lock(tx, &[owner]).await?.remove(&owner) else {
        return Ok(false);
    };
    // A clock that was ahead counted charges for a later day. Keeping that count would block
    // the account until then.
    let mut spending = wallet.spending;
    if spending.is_ahead_of(by.at_ms) {
        spending.day = lagos_day(by.at_ms);
        spending.spent = charged(tx, owner, spending.day).await?;
    }
    tx.execute(
        query(
            "update wallets set limit_per_day = $3, spent_day = $4, spent_today = $5
         where bucket = $1 and account_id = $2",
        )
        .bind(owner.0.0)
        .bind(owner.1.0)
        .bind(per_day.map(Money::units))
        .bind(spending.day)
        .bind(spending.spent.units()),
    )
    .await?;
    let shown =
        |per_day: Option<Money>| json!({ "per_day": per_day.map(|money| money.to_string()) });
    let entry = Entry {
        by,
        verb: VERB,
        account: Some(owner.1),
        object: "",
        before: shown(wallet.spending.per_day),
        after: shown(per_day),
    };
    audit::enter(tx, entry).await?;
    Ok(true)
}
