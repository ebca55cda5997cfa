//! Detection of a pooler in transaction mode before PostgreSQL.

use super::connect::connect;
use super::diagnose::{judge, unusable};
use super::remedy::Diagnosis;
use super::server::{CONNECT_TIMEOUT, Server};
use crate::error::{Error, Result};
use sqlx::{Connection, PgConnection, Row};
use tokio::time::timeout;

/// Refuses a pooler in transaction mode. There prepared statements of two sessions meet on one
/// connection, notifications are lost, and settings are dropped without an error.
///
/// Two sessions are compared while the second is in a transaction. Behind such a pooler, it has the
/// connection of the first, or the first gets another one. A server, and a pooler in session mode,
/// leave each session its own.
pub(super) async fn refuse_transaction_mode(
    server: &Server,
    first: &mut PgConnection,
) -> Result<()> {
    let (mut second, _relay) = match connect(server).await {
        Ok(second) => second,
        // The check is skipped if no connection is left: commands run beside nodes that may hold
        // all others.
        Err(Error::Unusable(unusable)) if unusable.is_full() => return Ok(()),
        Err(error) => return Err(error),
    };
    let Ok(compared) = timeout(CONNECT_TIMEOUT, is_shared(first, &mut second)).await else {
        let reason = "a second session was not given one".to_owned();
        return Err(unusable(server, Diagnosis::Full(reason)));
    };
    let is_shared = compared.map_err(|error| judge(server, error))?;
    // Closing the session ends its transaction.
    second.close().await.map_err(|error| judge(server, error))?;
    if is_shared {
        return Err(unusable(server, Diagnosis::TransactionPool));
    }
    Ok(())
}

async fn is_shared(first: &mut PgConnection, second: &mut PgConnection) -> sqlx::Result<bool> {
    let before = backend(first).await?;
    sqlx::raw_sql("begin").execute(&mut *second).await?;
    // If the pool has one connection only, the second session has it now. Then `||` ends here: the
    // first session would wait for that connection.
    Ok(backend(second).await? == before || backend(first).await? != before)
}

/// Returns the server process that runs statements of this session. The statement is not prepared,
/// because two sessions could prepare it on one connection.
async fn backend(session: &mut PgConnection) -> sqlx::Result<String> {
    let row = sqlx::raw_sql("select cast(pg_backend_pid() as text)");
    row.fetch_one(session).await?.try_get(0)
}
