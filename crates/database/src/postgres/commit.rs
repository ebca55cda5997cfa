//! Transactions of PostgreSQL. They are run again when the server asks for it. A commit whose
//! connection is lost is looked up until its result is known.

use super::pooled::{Pool, Pooled};
use crate::change::Change;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::outage::Outage;
use crate::tx::{TIMEOUT, Tx};
use sqlx::Row;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Codes after which the transaction is run again: serialization failure, deadlock, lock timeout,
/// and a row that another node wrote meanwhile (the next run finds it).
const RUN_AGAIN: [&str; 4] = ["40001", "40P01", "55P03", "23505"];

/// Runs of one change at most.
const MAX_RUNS: usize = 10;

/// Interval between lookups of a commit that the server did not acknowledge.
const ASK_INTERVAL: Duration = Duration::from_millis(100);

/// Log limiter for commits whose connection was lost: a failing server loses all open ones at once.
static LOST: Outage = Outage::of("connections are lost in commits");

/// Log limiter for lookups of commits while no server answers.
static UNKNOWN: Outage = Outage::of("the result of a commit is not known yet");

/// The result of one run of a change.
enum Run<O> {
    /// The change is durable.
    Done(O),
    /// The change is rolled back.
    Failed(Error),
    /// The change has not begun: the connection was lost since its last use.
    Stale(Error),
    /// The connection was lost after the commit was requested. The fields are the output of the run
    /// and its transaction id.
    Unknown(O, String),
}

/// Makes a change durable. It returns only when the result is known, and waits for a server that
/// went away during the commit. A caller with a shorter timeout must not await it directly.
pub(crate) async fn change<C: Change>(pool: &Pool, change: &C) -> Result<C::Output> {
    let mut runs = 1;
    loop {
        match run(pool, change).await {
            Run::Done(output) => return Ok(output),
            Run::Failed(error) if runs < MAX_RUNS && asks_again(&error) => runs += 1,
            Run::Stale(_) if runs < MAX_RUNS => runs += 1,
            Run::Failed(error) | Run::Stale(error) => return Err(error),
            Run::Unknown(output, transaction) => {
                if LOST.is_to_log().is_some() {
                    tracing::warn!("database: connection lost in a commit, looking up its result");
                }
                if stood(pool, change, &output, &transaction).await {
                    return Ok(output);
                }
            }
        }
    }
}

fn asks_again(error: &Error) -> bool {
    let Error::Database(failure @ Failure::Postgres(_)) = error else {
        return false;
    };
    failure
        .code()
        .is_some_and(|code| RUN_AGAIN.contains(&code.as_ref()))
}

async fn run<C: Change>(pool: &Pool, change: &C) -> Run<C::Output> {
    let mut tx = match Pooled::of(pool).await {
        Ok(connection) => Tx::Postgres(connection),
        Err(error) => return Run::Failed(error),
    };
    let (mut begun, mut asked) = (None, None);
    let ended = timeout(TIMEOUT, attempt(&mut tx, change, &mut begun, &mut asked)).await;
    let Err(error) = ended.unwrap_or(Err(Error::TimedOut)) else {
        return asked.map_or(Run::Failed(Error::Closed), Run::Done);
    };
    let lost = is_lost(&error);
    give_up(tx, &error).await;
    match (begun, asked) {
        (Some(transaction), Some(output)) if lost => Run::Unknown(output, transaction),
        (None, _) if lost && !matches!(error, Error::TimedOut) => Run::Stale(error),
        _ => Run::Failed(error),
    }
}

/// Begins a transaction and returns its id.
async fn begin<C: Change>(tx: &mut Tx) -> Result<String> {
    if let Tx::Postgres(pooled) = tx {
        pooled.begins();
    }
    // One round trip carries all statements.
    let opening = if C::DURABLE {
        "begin; select cast(pg_current_xact_id() as text)"
    } else {
        "begin; set local synchronous_commit = off; select cast(pg_current_xact_id() as text)"
    };
    let begun = sqlx::raw_sql(opening).fetch_one(tx.postgres()?).await?;
    Ok(begun.try_get(0)?)
}

/// Runs a change up to its commit. `begun` receives the transaction's id as soon as it is known.
/// `asked` receives the output of the change as soon as the commit is requested.
async fn attempt<C: Change>(
    tx: &mut Tx,
    change: &C,
    begun: &mut Option<String>,
    asked: &mut Option<C::Output>,
) -> Result<()> {
    *begun = Some(begin::<C>(tx).await?);
    *asked = Some(change.apply(tx).await?);
    sqlx::raw_sql("commit").execute(tx.postgres()?).await?;
    if let Tx::Postgres(pooled) = tx {
        pooled.rests();
    }
    Ok(())
}

/// Returns `true` if the server may have completed a commit that it did not acknowledge.
fn is_lost(error: &Error) -> bool {
    match error {
        Error::Database(Failure::Postgres(sqlx::Error::Database(error))) => {
            // The session was ended by an operator or a crash. Any other error is an answer: the
            // transaction was rolled back.
            error
                .code()
                .is_some_and(|code| code.starts_with("57P") || code.starts_with("08"))
        }
        _ => true,
    }
}

/// Rolls back. If that is not possible, the connection stays in its transaction and is closed.
async fn give_up(tx: Tx, error: &Error) {
    let Tx::Postgres(mut connection) = tx else {
        return;
    };
    let answered = matches!(
        error,
        Error::Database(Failure::Postgres(sqlx::Error::Database(_)))
    ) || !matches!(error, Error::Database(_) | Error::TimedOut);
    let rolled_back = answered
        && timeout(TIMEOUT, sqlx::raw_sql("rollback").execute(&mut *connection))
            .await
            .is_ok_and(|result| result.is_ok());
    if rolled_back {
        connection.rests();
    } else {
        connection.begins();
    }
}

/// Returns `true` if a change without an acknowledgement is in the database, however long the
/// lookup takes.
async fn stood<C: Change>(pool: &Pool, change: &C, output: &C::Output, transaction: &str) -> bool {
    loop {
        match ask(pool, change, output, transaction).await {
            Ok(Some(stands)) => {
                UNKNOWN.worked();
                return stands;
            }
            Ok(None) => {}
            Err(error) => UNKNOWN.failed(&error),
        }
        sleep(ASK_INTERVAL).await;
    }
}

/// Returns `None` while the transaction still runs. Its status alone is no proof: after a crash
/// another transaction may have its number.
async fn ask<C: Change>(
    pool: &Pool,
    change: &C,
    output: &C::Output,
    transaction: &str,
) -> Result<Option<bool>> {
    let mut tx = Tx::Postgres(Pooled::of(pool).await?);
    let asked = async {
        let status: std::result::Result<Option<String>, sqlx::Error> =
            sqlx::query_scalar("select pg_xact_status(cast($1 as xid8))")
                .bind(transaction)
                .fetch_one(tx.postgres()?)
                .await;
        match status {
            Ok(Some(status)) if status == "in progress" => return Ok(None),
            // A number from before a crash may lie in the future. Then the transaction is gone.
            Ok(_) | Err(sqlx::Error::Database(_)) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Some(change.is_committed(&mut tx, output).await?))
    };
    let asked = timeout(TIMEOUT, asked)
        .await
        .unwrap_or(Err(Error::TimedOut));
    if let Err(error) = &asked {
        give_up(tx, error).await;
    }
    asked
}
