//! Opening PostgreSQL, and bringing the schema of either database up to date.

use super::server::Server;
use super::unusable::{Facts, Fault};
use super::{BUSY, Db};
use crate::error::{Error, Result};
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnection, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::time::timeout;

/// How long a connection that rested is taken to be alive without asking: what is busy need not go there and back once
/// more for each change.
const TRUSTED: Duration = Duration::from_millis(100);
/// Connections of a node that are not of the pool: the one that hears the other nodes.
const LISTENING: u32 = 1;

/// When the server started, Unix microseconds.
pub(crate) const STARTED: &str =
    "cast(extract(epoch from pg_postmaster_start_time()) * 1000000 as bigint)";

static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// Connects to the server, finds out whether it can be used, and brings the schema up to date.
pub(super) async fn postgres(server: &Server) -> Result<Db> {
    // Not through the pool: it would take a refused connection for a server that starts, and wait.
    // Another node may be at the schema for a long time.
    let options = server.options.clone().options([("lock_timeout", "0")]);
    let connecting = timeout(BUSY, options.connect()).await;
    let mut connection = connecting
        .map_err(|_| server.unusable(Fault::Unreachable("no answer".to_owned())))?
        .map_err(|error| server.judge(error))?;
    let is_spread = prepare(server, &mut connection).await?;
    connection.close().await?;
    let incarnation = Arc::new(AtomicI64::new(0));
    let connected = Arc::clone(&incarnation);
    let pool = PgPoolOptions::new()
        .max_connections(server.connections.saturating_sub(LISTENING).max(1))
        .acquire_timeout(BUSY)
        .test_before_acquire(false)
        .before_acquire(|connection, lent| {
            Box::pin(async move {
                if lent.idle_for > TRUSTED {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(move |connection, _| {
            let connected = Arc::clone(&connected);
            Box::pin(async move {
                let sql = sqlx::AssertSqlSafe(format!("select {STARTED}"));
                let started: i64 = sqlx::query_scalar(sql).fetch_one(connection).await?;
                connected.store(started, Ordering::Release);
                Ok(())
            })
        })
        .connect_lazy_with(*server.options.clone());
    Ok(Db::Postgres {
        pool,
        incarnation,
        is_spread,
    })
}

/// Gives whether buckets may lie on several servers.
async fn prepare(server: &Server, connection: &mut PgConnection) -> Result<bool> {
    let facts: Facts = sqlx::query_as(Facts::SQL)
        .bind(tables())
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| server.judge(error))?;
    let is_spread = facts.is_spread;
    if let Some(fault) = facts.fault() {
        return Err(server.unusable(fault));
    }
    let migrated = migrate(&POSTGRES_MIGRATIONS, connection).await;
    migrated.map_err(|error| match error {
        Error::Migration(MigrateError::Execute(error)) => server.judge(error),
        error => error,
    })?;
    Ok(is_spread)
}

/// The names of all tables and views, as the migrations make them.
fn tables() -> Vec<&'static str> {
    let lines = POSTGRES_MIGRATIONS
        .iter()
        .flat_map(|migration| migration.sql.as_str().lines());
    let made = lines.filter_map(|line| {
        let name = line.strip_prefix("create table ");
        let name = name.or_else(|| line.strip_prefix("create view "));
        name?.split(' ').next()
    });
    made.chain(["_sqlx_migrations"]).collect()
}

/// Brings the schema up to date, unless a newer release made it.
pub(super) async fn migrate<'c, C>(migrator: &Migrator, connection: &'c mut C) -> Result<()>
where
    C: sqlx::migrate::Migrate + Send,
    &'c mut C: sqlx::Acquire<'c>,
    <<&'c mut C as sqlx::Acquire<'c>>::Connection as std::ops::Deref>::Target:
        sqlx::migrate::Migrate,
{
    let known = migrator
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or(0);
    migrator.run(connection).await.map_err(|error| match error {
        MigrateError::VersionMissing(found) if found > known => Error::Newer { found, known },
        error => Error::Migration(error),
    })
}
