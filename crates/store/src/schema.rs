//! The schema: one migration for each database.

use database::{Migration, Schema};

pub(crate) static SCHEMA: Schema = Schema {
    sqlite: &[Migration {
        version: 1,
        name: "initial",
        sql: include_str!("../migrations/sqlite/0001_initial.sql"),
    }],
    postgres: &[Migration {
        version: 1,
        name: "initial",
        sql: include_str!("../migrations/postgres/0001_initial.sql"),
    }],
};

/// Returns the statements for psql that distribute the tables over the workers of Citus.
pub fn citus_statements() -> String {
    let made: Vec<&str> = SCHEMA.postgres.iter().map(|one| one.sql).collect();
    database::citus_statements(&made.concat())
}
