//! Opening PostgreSQL, and bringing the schema of either database up to date.

use super::{BUSY, Db};
use crate::error::{Error, Result};
use sqlx::migrate::Migrator;
use sqlx::postgres::PgPoolOptions;

/// Connections to PostgreSQL.
const POSTGRES_CONNECTIONS: u32 = 8;

static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

pub(super) async fn postgres(url: &str) -> Result<Db> {
    let pool = PgPoolOptions::new()
        .max_connections(POSTGRES_CONNECTIONS)
        .acquire_timeout(BUSY)
        .connect(url)
        .await?;
    let mut connection = pool.acquire().await?;
    let synchronous: String = sqlx::query_scalar("show synchronous_commit")
        .fetch_one(&mut *connection)
        .await?;
    if synchronous == "off" {
        return Err(Error::Setting {
            setting: "synchronous_commit",
            wanted: "on",
            found: synchronous,
        });
    }
    migrate(&POSTGRES_MIGRATIONS, &mut *connection).await?;
    Ok(Db::Postgres(pool))
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
        sqlx::migrate::MigrateError::VersionMissing(found) if found > known => {
            Error::Newer { found, known }
        }
        error => Error::Migration(error),
    })
}
