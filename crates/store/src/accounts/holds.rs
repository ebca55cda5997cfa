//! A hold marks an account that may not send, with the fate of its queued messages. Claims and
//! accept commits read the row, so a node's memory of the account does not matter.

use crate::rows::named;
use database::{Db, Result, Tx, query};
use domain::{AccountId, AccountStatus, Queued};
use std::collections::HashMap;

/// Sets the fate of an account's queued messages. If they are sent again, the row is removed.
pub(crate) async fn set(
    tx: &mut Tx,
    account: AccountId,
    status: AccountStatus,
    queued: Queued,
) -> Result<()> {
    if queued == Queued::Send {
        return tx
            .execute(query("delete from holds where account_id = $1").bind(account.0))
            .await
            .map(drop);
    }
    tx.execute(
        query(
            "insert into holds (account_id, status, queued) values ($1, $2, $3)
         on conflict (account_id) do update set status = excluded.status,
             queued = excluded.queued",
        )
        .bind(account.0)
        .bind(status.as_str())
        .bind(queued.as_str()),
    )
    .await?;
    Ok(())
}

/// Returns the fate of an account's queued messages.
pub(crate) async fn of(tx: &mut Tx, account: AccountId) -> Result<Queued> {
    let found: Option<String> = tx
        .fetch_optional(query("select queued from holds where account_id = $1").bind(account.0))
        .await?;
    found.map_or(Ok(Queued::Send), |queued| named(Queued::from_name, &queued))
}

/// Returns the accounts whose queued messages are not sent, each with their fate.
pub(crate) async fn all(db: &Db) -> Result<HashMap<AccountId, Queued>> {
    let rows: Vec<(i64, String)> = db
        .fetch_all(query(
            "select account_id, queued from holds order by account_id",
        ))
        .await?;
    rows.into_iter()
        .map(|(account, queued)| Ok((AccountId(account), named(Queued::from_name, &queued)?)))
        .collect()
}
