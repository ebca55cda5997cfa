//! Migrations: the table of those that were applied is as sqlx's own driver keeps it.

use super::connection::{Connection, apart};
use super::failure::failure;
use futures_core::future::BoxFuture;
use sqlx::AssertSqlSafe;
use sqlx::migrate::{AppliedMigration, Migrate, MigrateError, Migration};
use std::future::ready;
use std::time::{Duration, Instant};

impl Connection {
    /// Applies a migration and notes it, both or neither.
    fn apply_now(&mut self, table: &str, migration: &Migration) -> rusqlite::Result<()> {
        let transaction = self.raw.transaction()?;
        transaction.execute_batch(migration.sql.as_str())?;
        transaction.execute(
            &format!(
                "insert into {table} (version, description, success, checksum, execution_time)
                 values (?1, ?2, true, ?3, -1)"
            ),
            (
                migration.version,
                &*migration.description,
                &*migration.checksum,
            ),
        )?;
        transaction.commit()
    }
}

impl Migrate for Connection {
    fn create_schema_if_not_exists<'e>(
        &'e mut self,
        _schema: &'e str,
    ) -> BoxFuture<'e, Result<(), MigrateError>> {
        Box::pin(ready(Ok(())))
    }

    fn ensure_migrations_table<'e>(
        &'e mut self,
        table: &'e str,
    ) -> BoxFuture<'e, Result<(), MigrateError>> {
        let made = self.raw.execute_batch(&format!(
            "create table if not exists {table} (
                 version bigint primary key,
                 description text not null,
                 installed_on timestamp not null default current_timestamp,
                 success boolean not null,
                 checksum blob not null,
                 execution_time bigint not null
             )"
        ));
        Box::pin(ready(made.map_err(|error| failure(error).into())))
    }

    fn dirty_version<'e>(
        &'e mut self,
        table: &'e str,
    ) -> BoxFuture<'e, Result<Option<i64>, MigrateError>> {
        Box::pin(async move {
            let sql = format!("select min(version) from {table} where not success");
            let version = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(self);
            Ok(version.await?)
        })
    }

    fn list_applied_migrations<'e>(
        &'e mut self,
        table: &'e str,
    ) -> BoxFuture<'e, Result<Vec<AppliedMigration>, MigrateError>> {
        Box::pin(async move {
            let sql =
                format!("select version, cast(checksum as blob) from {table} order by version");
            let applied: Vec<(i64, Vec<u8>)> =
                sqlx::query_as(AssertSqlSafe(sql)).fetch_all(self).await?;
            let applied = applied
                .into_iter()
                .map(|(version, checksum)| AppliedMigration {
                    version,
                    checksum: checksum.into(),
                });
            Ok(applied.collect())
        })
    }

    /// The turn of `db.rs` locks out others.
    fn lock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        Box::pin(ready(Ok(())))
    }

    fn unlock(&mut self) -> BoxFuture<'_, Result<(), MigrateError>> {
        Box::pin(ready(Ok(())))
    }

    fn apply<'e>(
        &'e mut self,
        table: &'e str,
        migration: &'e Migration,
    ) -> BoxFuture<'e, Result<Duration, MigrateError>> {
        Box::pin(async move {
            let start = Instant::now();
            apart(|| self.apply_now(table, migration)).map_err(|error| {
                MigrateError::ExecuteMigration(failure(error), migration.version)
            })?;
            Ok(start.elapsed())
        })
    }

    /// There is no way back from a release.
    fn revert<'e>(
        &'e mut self,
        _table: &'e str,
        migration: &'e Migration,
    ) -> BoxFuture<'e, Result<Duration, MigrateError>> {
        Box::pin(ready(Err(MigrateError::VersionNotPresent(
            migration.version,
        ))))
    }
}
