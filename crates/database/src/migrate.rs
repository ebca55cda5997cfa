//! The run of the migrations, and the record of applied ones.

use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::query::{Value, query};
use crate::schema::Migration;
use crate::sqlite::connection::SqliteConnection;
use sqlx::PgConnection;

/// An applied migration: its version and its checksum.
pub(crate) type Applied = (i64, Vec<u8>);

/// The table of applied migrations.
pub(crate) const TABLE: &str = "_migrations";

/// The lock under which one node at a time migrates: "ogene" in ASCII.
const LOCK: i64 = 0x6F_67_65_6E_65;

const APPLIED: &str = "select version, checksum from _migrations order by version";

const NOTE: &str = "insert into _migrations (version, name, checksum) values ($1, $2, $3)";

/// Returns the migrations that are due. It is an error if a newer release made the database, or if
/// an applied migration differs from ours.
pub(crate) fn due<'s>(known: &'s [Migration], applied: &[Applied]) -> Result<&'s [Migration]> {
    let newest = known.last().map_or(0, |migration| migration.version);
    if let Some((found, _)) = applied.iter().find(|(version, _)| *version > newest) {
        return Err(Error::Newer {
            found: *found,
            known: newest,
        });
    }
    for (at, (version, checksum)) in applied.iter().enumerate() {
        let is_known = known.get(at).is_some_and(|migration| {
            migration.version == *version && migration.checksum() == *checksum
        });
        if !is_known {
            return Err(Error::Altered { version: *version });
        }
    }
    Ok(known.get(applied.len()..).unwrap_or_default())
}

/// Brings the schema of a file up to date.
pub(crate) fn sqlite(connection: &mut SqliteConnection, known: &[Migration]) -> Result<()> {
    connection.execute_script(
        "create table if not exists _migrations (
             version bigint primary key,
             name text not null,
             checksum blob not null,
             applied_at timestamp not null default current_timestamp
         )",
    )?;
    let applied: Vec<Applied> = connection.fetch(APPLIED, &[], usize::MAX)?;
    for migration in due(known, &applied)? {
        connection.run_transaction_command("begin immediate")?;
        let made = connection
            .execute_script(migration.sql)
            .and_then(|()| connection.execute(NOTE, &values(migration)))
            .and_then(|_| connection.run_transaction_command("commit"));
        if let Err(error) = made {
            // Some failures have already ended the transaction, so the rollback may fail.
            let _ = connection.run_transaction_command("rollback");
            return Err(as_migration(error));
        }
    }
    Ok(())
}

/// Brings the schema of a server up to date. After an error the connection must not be used again.
pub(crate) async fn postgres(connection: &mut PgConnection, known: &[Migration]) -> Result<()> {
    let lock = sqlx::query("select pg_advisory_lock($1)").bind(LOCK);
    lock.execute(&mut *connection).await?;
    sqlx::raw_sql(
        "create table if not exists _migrations (
             version bigint primary key,
             name text not null,
             checksum bytea not null,
             applied_at timestamptz not null default now()
         )",
    )
    .execute(&mut *connection)
    .await?;
    for migration in due(known, &applied(connection).await?)? {
        let made = apply(connection, migration).await;
        made.map_err(as_migration)?;
    }
    let unlock = sqlx::query("select pg_advisory_unlock($1)").bind(LOCK);
    unlock.execute(connection).await?;
    Ok(())
}

/// Returns the migrations applied to a server.
pub(crate) async fn applied(connection: &mut PgConnection) -> sqlx::Result<Vec<Applied>> {
    sqlx::query_as(APPLIED).fetch_all(connection).await
}

async fn apply(connection: &mut PgConnection, migration: &Migration) -> Result<()> {
    sqlx::raw_sql("begin").execute(&mut *connection).await?;
    sqlx::raw_sql(migration.sql)
        .execute(&mut *connection)
        .await?;
    let note = query(NOTE).with(values(migration));
    note.for_postgres()?.execute(&mut *connection).await?;
    sqlx::raw_sql("commit").execute(connection).await?;
    Ok(())
}

/// Returns the values of the record of a migration.
fn values(migration: &Migration) -> [Value<'static>; 3] {
    [
        migration.version.into(),
        migration.name.into(),
        migration.checksum().into(),
    ]
}

fn as_migration(error: Error) -> Error {
    match error {
        Error::Database(failure @ (Failure::Postgres(_) | Failure::Sqlite(_))) => {
            Error::Migration(failure)
        }
        error => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Migration; 2] = [
        Migration {
            version: 1,
            name: "initial",
            sql: "create table a (b bigint)",
        },
        Migration {
            version: 2,
            name: "more",
            sql: "create table c (d bigint)",
        },
    ];

    fn applied(migrations: &[Migration]) -> Vec<Applied> {
        let applied = migrations.iter();
        applied.map(|one| (one.version, one.checksum())).collect()
    }

    #[test]
    fn the_migrations_behind_those_applied_are_due() {
        for made in 0..=KNOWN.len() {
            let due = due(&KNOWN, &applied(&KNOWN[..made])).unwrap();
            assert_eq!(due.len(), KNOWN.len() - made);
        }
    }

    #[test]
    fn a_newer_and_an_altered_schema_are_refused() {
        let newer = [applied(&KNOWN), vec![(3, vec![0])]].concat();
        let refused = due(&KNOWN, &newer).unwrap_err();
        assert!(matches!(refused, Error::Newer { found: 3, known: 2 }));
        let altered = due(&KNOWN, &[(1, vec![0])]).unwrap_err();
        assert!(matches!(altered, Error::Altered { version: 1 }));
        let missing = due(&KNOWN, &applied(&KNOWN[1..])).unwrap_err();
        assert!(matches!(missing, Error::Altered { version: 2 }));
    }

    #[test]
    fn a_migration_of_a_file_applies_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.db");
        let options =
            crate::sqlite::options::Options::new(&file, std::time::Duration::ZERO).create();
        let mut connection = options.connect().unwrap();
        let faulty = Migration {
            version: 2,
            name: "faulty",
            sql: "create table c (d bigint); create table a (b bigint)",
        };
        let refused = sqlite(&mut connection, &[KNOWN[0], faulty]).unwrap_err();
        assert!(matches!(refused, Error::Migration(_)), "{refused}");
        for _ in 0..2 {
            sqlite(&mut connection, &KNOWN).unwrap();
        }
        let versions: Vec<i64> = connection
            .fetch("select version from _migrations order by 1", &[], 9)
            .unwrap();
        assert_eq!(versions, [1, 2]);
    }
}
