//! Finds out whether a pooler stands before PostgreSQL that does not keep a session together.

use super::BUSY;
use super::diagnose::{Fault, Unusable};
use super::open::connect;
use super::server::Server;
use crate::error::{Error, Result};
use sqlx::{Connection, PgConnection, Row};
use tokio::time::timeout;

/// Refuses a pooler in transaction mode. There prepared statements of two sessions meet on one connection, notifications
/// reach nobody, and settings are lost, without an error in the end.
///
/// Two sessions are compared. While the second is within a transaction, it has the connection of the first, or the first
/// is given another one; before a server, or a pool in session mode, each keeps its own.
pub(super) async fn refuse(server: &Server, first: &mut PgConnection) -> Result<()> {
    let (mut second, _relay) = match connect(server).await {
        Ok(second) => second,
        // It is not asked for more than there is: commands are run beside nodes that have all others.
        Err(Error::Unusable(unusable)) if unusable.is_full() => return Ok(()),
        Err(error) => return Err(error),
    };
    let Ok(compared) = timeout(BUSY, is_shared(first, &mut second)).await else {
        let reason = "a second session was not given one".to_owned();
        return Err(server.unusable(Fault::Full(reason)));
    };
    let is_shared = compared.map_err(|error| server.judge(error))?;
    // What it began ends with it.
    second.close().await.map_err(|error| server.judge(error))?;
    if is_shared {
        return Err(server.unusable(Fault::TransactionPool));
    }
    Ok(())
}

async fn is_shared(first: &mut PgConnection, second: &mut PgConnection) -> sqlx::Result<bool> {
    let before = backend(first).await?;
    sqlx::raw_sql("begin").execute(&mut *second).await?;
    // Where the pool has one connection alone, the first session would wait for it: so it is not asked then.
    Ok(backend(second).await? == before || backend(first).await? != before)
}

/// The process of the server that a statement of this session is run by. The statement is not prepared, or two sessions
/// would prepare it on one connection.
async fn backend(session: &mut PgConnection) -> sqlx::Result<String> {
    let row = sqlx::raw_sql("select cast(pg_backend_pid() as text)");
    row.fetch_one(session).await?.try_get(0)
}

impl Unusable {
    fn is_full(&self) -> bool {
        matches!(self.fault(), Fault::Full(_))
    }
}
