//! What source and target must agree on, beside the rows themselves.

use super::table::Table;
use database::{Result, Tx, query};

/// How many rows a table has.
pub(super) async fn count(tx: &mut Tx, table: &Table) -> Result<i64> {
    let sql = format!("select count(*) from {}", table.name);
    tx.fetch_one(query(sql)).await
}

/// The components of a wallet, behind its account.
type Wallet = (i64, i64, i64, i64, i64, i64, i64);
/// An account, how many entries it has in the ledger, and their sum.
type Sum = (i64, i64, i64);

/// Every wallet, and the ledger by account.
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
