//! Statements: the entries of an account, with the balances after each.

use super::balances;
use super::ledger::{LedgerEntry, LedgerKey, LedgerRow};
use crate::buckets::Buckets;
use crate::rows::named;
use database::{Db, Query, Result, Sql, query};
use domain::{AccountId, Bucket, Component, Money, Purse};

/// Returns the query for the entries of an account that follow the entry `behind`, newest first.
/// Each database reads its own key backwards. With `+account_id` SQLite does not drop the account
/// from the order, which so remains the order of its key.
pub(super) fn entries(
    bucket: Bucket,
    account: AccountId,
    behind: Option<LedgerKey>,
    limit: u32,
) -> Query<'static> {
    let sql = Sql {
        sqlite:
            "select * from ledger where bucket = $1 and +account_id = $2
             and (subject, account_id, recipient, kind, component) < ($3, $2, $4, $5, $6)
         order by subject desc, account_id desc, recipient desc, kind desc, component desc limit $7",
        postgres: "select * from ledger where bucket = $1 and account_id = $2
             and (subject, kind, recipient, component) < ($3, $5, $4, $6)
         order by subject desc, kind desc, recipient desc, component desc limit $7",
    };
    let behind = behind.unwrap_or((u128::MAX, 0, String::new(), String::new()));
    of_key(query(sql), bucket, account, behind).bind(i64::from(limit))
}

fn of_key(
    query: Query<'static>,
    bucket: Bucket,
    account: AccountId,
    (subject, recipient, kind, component): LedgerKey,
) -> Query<'static> {
    query
        .bind(bucket.0)
        .bind(account.0)
        .bind(subject.to_be_bytes().to_vec())
        .bind(recipient)
        .bind(kind)
        .bind(component)
}

/// Returns the query for the sums of the entries that are not behind a key.
fn newer(bucket: Bucket, account: AccountId, behind: LedgerKey) -> Query<'static> {
    let sql = Sql {
        sqlite: "select component, cast(sum(amount) as bigint) from ledger
             where bucket = $1 and +account_id = $2
                 and (subject, account_id, recipient, kind, component) >= ($3, $2, $4, $5, $6)
             group by component",
        postgres: "select component, cast(sum(amount) as bigint) from ledger
             where bucket = $1 and account_id = $2
                 and (subject, kind, recipient, component) >= ($3, $5, $4, $6)
             group by component",
    };
    of_key(query(sql), bucket, account, behind)
}

/// Returns the entries of an account that follow the entry `behind`, and the balances after the
/// first entry returned. One snapshot serves all reads.
pub(super) async fn with_balances(
    db: &Db,
    account: AccountId,
    behind: Option<LedgerKey>,
    limit: u32,
) -> Result<(Vec<LedgerEntry>, Purse)> {
    let bucket = Buckets::of(db).account(account);
    Db::in_time(async {
        let mut tx = db.read().await?;
        tx.begin_snapshot().await?;
        let wallet = tx
            .fetch_optional(balances::query_of(bucket, account))
            .await?;
        let mut balances =
            wallet.map_or_else(Purse::default, |row: balances::WalletRow| row.purse());
        if let Some(behind) = behind.clone() {
            let sums: Vec<(String, i64)> = tx.fetch_all(newer(bucket, account, behind)).await?;
            for (component, sum) in sums {
                let component = named(Component::from_name, &component)?;
                balances.add(component, Money::ZERO - Money::from_units(sum));
            }
        }
        let rows: Vec<LedgerRow> = tx
            .fetch_all(entries(bucket, account, behind, limit))
            .await?;
        tx.end_snapshot().await?;
        let entries: Result<Vec<LedgerEntry>> = rows.into_iter().map(LedgerRow::entry).collect();
        Ok((entries?, balances))
    })
    .await
}
