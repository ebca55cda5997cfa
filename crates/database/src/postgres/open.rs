//! Opening PostgreSQL, and bringing its schema up to date.

use super::connect::connect;
use super::diagnose::{judge, unusable};
use super::pooled::Pool;
use super::pooler;
use super::remedy::Diagnosis;
use super::server::{CONNECT_TIMEOUT, READ_BACK, Server};
use super::server_check::Facts;
use crate::citus::Placement;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::migrate;
use crate::schema::Schema;
use sqlx::Connection;
use sqlx::postgres::{PgConnection, PgPoolOptions};
use std::sync::Arc;
use std::time::Duration;

/// Idle time for which a connection is trusted without a ping. This saves a busy connection one round
/// trip a change.
const TRUSTED: Duration = Duration::from_millis(100);

/// Connections of a node outside the pool: the listener for messages of other nodes.
const LISTENING: u32 = 1;

/// The start time of the server, in Unix microseconds.
pub const STARTED: &str =
    "cast(extract(epoch from pg_postmaster_start_time()) * 1000000 as bigint)";

/// Connects to the server, checks that it can be used, and brings the schema up to date.
pub(crate) async fn open(server: &Server, schema: &Schema) -> Result<Pool> {
    if let Some((parameter, path, reason)) = server.unreadable_file() {
        return Err(unusable(
            server,
            Diagnosis::File {
                parameter,
                path,
                reason,
            },
        ));
    }
    // The pool is not used: it would treat a refused connection as a starting server, and wait.
    let (mut connection, relay) = connect(server).await?;
    pooler::refuse_transaction_mode(server, &mut connection).await?;
    let placement = prepare(server, &mut connection, schema).await?;
    connection.close().await?;
    let settings: Arc<str> = server.settings(placement).into();
    let options = match &relay {
        Some(relay) => relay.through(*server.options.clone()),
        None => *server.options.clone(),
    };
    let connections = PgPoolOptions::new()
        .max_connections(server.connections.saturating_sub(LISTENING).max(1))
        .acquire_timeout(CONNECT_TIMEOUT)
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
            // The relay lives as long as the pool.
            let _relay = &relay;
            let settings = Arc::clone(&settings);
            Box::pin(async move { set(connection, &settings).await })
        })
        .connect_lazy_with(options);
    Ok(Pool {
        connections,
        placement,
    })
}

/// Runs the statement that sets the session settings of a connection.
async fn set(connection: &mut PgConnection, settings: &str) -> sqlx::Result<()> {
    let sql = sqlx::AssertSqlSafe(settings.to_owned());
    sqlx::raw_sql(sql).execute(connection).await.map(drop)
}

/// Prepares the schema. Returns the servers that hold the rows.
async fn prepare(
    server: &Server,
    connection: &mut PgConnection,
    schema: &Schema,
) -> Result<Placement> {
    let judge = |error| judge(server, error);
    set(connection, &server.settings(Placement::OneServer))
        .await
        .map_err(judge)?;
    // The setting is read in a separate query. Together with the statement that sets it, a pooler
    // might return the value and drop it later.
    let (setting, wanted) = READ_BACK;
    let read = sqlx::query_scalar("select current_setting($1)").bind(setting);
    let found: String = read.fetch_one(&mut *connection).await.map_err(judge)?;
    if found != wanted {
        return Err(unusable(server, Diagnosis::DropsSettings(found)));
    }
    let facts = sqlx::query(Facts::SQL)
        .bind(tables(schema))
        .fetch_one(&mut *connection)
        .await
        .and_then(|row| Facts::read(&row));
    let mut facts = facts.map_err(judge)?;
    facts.is_due = !facts.has_migrations || is_due(connection, schema).await?;
    let is_due = facts.is_due;
    if let Some(fault) = facts.fault() {
        return Err(unusable(server, fault));
    }
    if is_due {
        // Another node may migrate the schema for a long time.
        set(connection, "set lock_timeout = 0")
            .await
            .map_err(judge)?;
        let migrated = migrate::postgres(connection, schema.postgres).await;
        migrated.map_err(|error| match error {
            Error::Database(Failure::Postgres(error)) => judge(error),
            error => error,
        })?;
    }
    Placement::of(connection).await.map_err(judge)
}

/// Returns `true` if a migration is due. If none is, the migrator is not run: it asks for the right
/// to make tables even if its own table exists.
async fn is_due(connection: &mut PgConnection, schema: &Schema) -> Result<bool> {
    let made = migrate::applied(connection).await;
    let made = match made {
        Ok(made) => made,
        // The table is not readable. The check of all tables reports it.
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42501") => {
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    };
    // The migrations themselves refuse a newer or different schema.
    Ok(migrate::due(schema.postgres, &made).map_or(true, |due| !due.is_empty()))
}

/// Returns the names of all tables and views, as the migrations make them.
fn tables(schema: &Schema) -> Vec<&str> {
    let lines = schema
        .postgres
        .iter()
        .flat_map(|migration| migration.sql.lines());
    let made = lines.filter_map(|line| {
        let name = line.strip_prefix("create table ");
        let name = name.or_else(|| line.strip_prefix("create view "));
        name?.split(' ').next()
    });
    made.chain([migrate::TABLE]).collect()
}
