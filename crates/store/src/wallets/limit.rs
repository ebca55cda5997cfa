//! What accounts may spend in a day. It is counted on the wallet, which whoever charges has locked anyhow.

use super::{Owner, lock};
use crate::Store;
use crate::audit::{self, By, Entry};
use crate::db::{Change, Tx};
use crate::error::Result;
use crate::rows::id_bytes;
use crate::sql::{execute_rows, on};
use domain::{AccountId, Bucket, DailyLimit, MessageId, Money, day_begins_at, lagos_day};
use serde_json::json;
use std::collections::BTreeMap;

const VERB: &str = "account.limit";

/// Writes down what these have spent. Where no account of a group has a limit, this is no statement.
pub(crate) async fn count(tx: &mut Tx, spent: &BTreeMap<Owner, DailyLimit>) -> Result<()> {
    let rows: Vec<_> = spent.iter().collect();
    execute_rows!(
        tx,
        &rows,
        4,
        "with v (bucket, account_id, day, spent) as (values {rows})
         update wallets set spent_day = v.day, spent_today = v.spent
         from v where wallets.bucket = v.bucket and wallets.account_id = v.account_id",
        |query, row| {
            let ((bucket, account), limit) = row;
            query
                .bind(bucket.0)
                .bind(account.0)
                .bind(limit.day)
                .bind(limit.spent.units())
        }
    );
    Ok(())
}

struct SetLimit {
    bucket: Bucket,
    account: AccountId,
    per_day: Option<Money>,
    by: By,
}

impl Change for SetLimit {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let owner = (self.bucket, self.account);
        let Some(wallet) = lock(tx, Some(self.bucket), &[owner]).await?.remove(&owner) else {
            return Ok(false);
        };
        // What was charged today before there was a limit counts too. Ids of messages grow with time.
        let today = lagos_day(self.by.at_ms);
        let first = MessageId::lowest_at(day_begins_at(today));
        let spent: i64 = on!(tx, |connection| sqlx::query_scalar(
            "select cast(coalesce(-sum(amount), 0) as bigint) from ledger
             where bucket = $1 and account_id = $2 and subject >= $3 and kind = 'charge'",
        )
        .bind(self.bucket.0)
        .bind(self.account.0)
        .bind(id_bytes(&first))
        .fetch_one(connection)
        .await?);
        on!(tx, |connection| sqlx::query(
            "update wallets set limit_per_day = $3, spent_day = $4, spent_today = $5
             where bucket = $1 and account_id = $2",
        )
        .bind(self.bucket.0)
        .bind(self.account.0)
        .bind(self.per_day.map(Money::units))
        .bind(today)
        .bind(spent)
        .execute(connection)
        .await
        .map(drop))?;
        let told =
            |per_day: Option<Money>| json!({ "per_day": per_day.map(|money| money.to_string()) });
        let entry = Entry {
            by: &self.by,
            verb: VERB,
            account: Some(self.account),
            object: "",
            before: told(wallet.limit.map(|limit| limit.per_day)),
            after: told(self.per_day),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn stands(&self, tx: &mut Tx, found: &bool) -> Result<bool> {
        Ok(!found || audit::is_kept(tx, &self.by, VERB, "").await?)
    }
}

impl Store {
    /// Limits what an account may spend in a day, or takes the limit away; `false` when there is no such account.
    pub async fn set_daily_limit(
        &self,
        account: AccountId,
        per_day: Option<Money>,
        by: By,
    ) -> Result<bool> {
        let set = SetLimit {
            bucket: self.bucket_of(account),
            account,
            per_day,
            by,
        };
        self.db.change(set).await
    }

    /// The limit of an account, with what was spent on the last day.
    pub async fn daily_limit(&self, account: AccountId) -> Result<Option<DailyLimit>> {
        let row = self.wallet_row(account).await?;
        Ok(row.and_then(|row| row.limit()))
    }
}
