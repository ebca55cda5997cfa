//! Totals that must be equal in source and target, beside the rows themselves.

use super::table::Table;
use database::{Result, Tx, query};

/// Returns the number of rows of a table.
pub(super) async fn count(tx: &mut Tx, table: &Table) -> Result<i64> {
    let sql = format!("select count(*) from {}", table.name);
    tx.fetch_one(query(sql)).await
}

/// The components of a wallet, after its account.
type Wallet = (i64, i64, i64, i64, i64, i64, i64);
/// An account, the number of its ledger entries, and their sum.
type Sum = (i64, i64, i64);

/// Returns every wallet, and the ledger's sum by account.
pub(super) async fn books(tx: &mut Tx) -> Result<(Vec<Wallet>, Vec<Sum>)> {
    let wallets = tx
        .fetch_all(query(
            "select account_id, promo_bonus, volume_bonus, sms_bonus, sms_wallet, main_balance,
             universal_wallet
         from wallets order by account_id",
        ))
        .await?;
    let sums = tx
        .fetch_all(query(
            "select account_id, count(*), cast(sum(amount) as bigint) from ledger
         group by account_id order by account_id",
        ))
        .await?;
    Ok((wallets, sums))
}
