//! Everything that is special to Citus, which distributes tables over several PostgreSQL servers.
//! It was checked on Citus 13.2.2. `docs/operating/citus.md` is the page for operators.
//!
//! - A table with a column `bucket` is distributed by it, so the rows of one bucket lie on one
//!   server. Each server has a copy of every other table ([`citus_statements`]).
//! - A transaction keeps to one bucket ([`crate::Db::has_one_server`]).
//! - A statement over many rows runs once for each row, since its text for one row names the bucket.
//! - Plans are made with the values, which name the shard.

use sqlx::PgConnection;
use std::fmt::Write as _;

/// Shards of each table: the fewest for which no two of 16 buckets share one. Each bucket can then
/// be moved alone.
const SHARDS: u32 = 140;

const BEFORE: &str = r"-- Distributes the tables of ogene over the workers of Citus (11 or later).
-- Checked on Citus 13.2.2. Try it on a copy first, and read docs/operating/citus.md.
--
-- Before: citus_set_coordinator_host and citus_add_node for each worker; `ogene migrate` for the tables.
-- No node of ogene may run. Not in one transaction: each statement commits by itself.
\set ON_ERROR_STOP on

-- The triggers that keep ledger and audit append-only raise an error and touch no other row.
select run_command_on_workers('alter system set citus.enable_unsafe_triggers to on');
select run_command_on_workers('select pg_reload_conf()');
set citus.enable_unsafe_triggers to on;
";

/// The servers that hold the rows of a PostgreSQL database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Placement {
    /// One server holds all rows.
    OneServer,
    /// Citus is installed: each bucket may lie on another server.
    ByBucket,
}

impl Placement {
    /// Returns the placement of the database of this connection.
    pub(crate) async fn of(connection: &mut PgConnection) -> sqlx::Result<Self> {
        let installed = sqlx::query_scalar(
            "select exists (select 1 from pg_extension where extname = 'citus')",
        );
        let is_installed: bool = installed.fetch_one(connection).await?;
        Ok(if is_installed {
            Self::ByBucket
        } else {
            Self::OneServer
        })
    }

    /// Returns `true` if one transaction may change rows of several buckets.
    pub(crate) fn has_one_server(self) -> bool {
        self == Self::OneServer
    }

    /// Returns the maximum rows of one statement. `max` is the maximum on one server.
    pub(crate) fn max_rows(self, max: usize) -> usize {
        match self {
            Self::OneServer => max,
            Self::ByBucket => 1,
        }
    }

    /// Returns the kind of plans. A generic plan fails in the functions of Citus.
    pub(crate) fn plan_cache_mode(self) -> &'static str {
        match self {
            Self::OneServer => "force_generic_plan",
            Self::ByBucket => "force_custom_plan",
        }
    }
}

/// Returns the statements for psql that distribute the tables that a migration makes, in a working
/// order.
pub fn citus_statements(migration: &str) -> String {
    let mut text = BEFORE.to_owned();
    // A write to a `String` cannot fail.
    text.push_str("\n-- A copy on each worker.\n");
    for (table, _) in tables(migration).filter(|(_, has_bucket)| !has_bucket) {
        let _ = writeln!(text, "select create_reference_table('{table}');");
    }
    text.push_str("\n-- By bucket, and those of one bucket on one worker.\n");
    let mut first = None;
    for (table, _) in tables(migration).filter(|(_, has_bucket)| *has_bucket) {
        let placed = match first {
            None => format!("'none', shard_count => {SHARDS}"),
            Some(first) => format!("'{first}'"),
        };
        let _ = writeln!(
            text,
            "select create_distributed_table('{table}', 'bucket', colocate_with => {placed});"
        );
        first = first.or(Some(table));
    }
    text
}

/// Returns the tables that a migration makes, each with `true` if it has a bucket. A referenced
/// table comes first, as in the migration.
fn tables(sql: &str) -> impl Iterator<Item = (&str, bool)> {
    sql.split("\ncreate table ").skip(1).filter_map(|rest| {
        let (name, rest) = rest.split_once(" (\n")?;
        let columns = rest.split("\n)").next()?;
        let has_bucket = |column: &str| column.trim_start().starts_with("bucket ");
        Some((name, columns.lines().any(has_bucket)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATION: &str = "-- Tables.\n
create table accounts (\n    account_id bigint primary key\n);\n
create table tokens (\n    token_id text not null references accounts,\n    a_bucket text\n);\n
create table wallets (\n    bucket smallint not null\n);\n
create table ledger (\n    amount bigint,\n    bucket smallint\n) with (fillfactor = 90);\n";

    #[test]
    fn tables_with_a_bucket_are_distributed_the_others_copied() {
        let text = citus_statements(MIGRATION);
        let (before, made) = text.split_once("\n-- A copy").unwrap();
        insta::assert_snapshot!(made, @r"
         on each worker.
        select create_reference_table('accounts');
        select create_reference_table('tokens');

        -- By bucket, and those of one bucket on one worker.
        select create_distributed_table('wallets', 'bucket', colocate_with => 'none', shard_count => 140);
        select create_distributed_table('ledger', 'bucket', colocate_with => 'wallets');
        ");
        assert!(before.contains("set citus.enable_unsafe_triggers to on;"));
        assert!(before.contains("Checked on Citus 13.2.2"));
    }

    #[test]
    fn statements_are_for_one_bucket_where_citus_is() {
        let table = [
            (Placement::OneServer, true, 1_024, "force_generic_plan"),
            (Placement::ByBucket, false, 1, "force_custom_plan"),
        ];
        for (placement, is_one, rows, plans) in table {
            assert_eq!(placement.has_one_server(), is_one);
            assert_eq!(placement.max_rows(1_024), rows);
            assert_eq!(placement.plan_cache_mode(), plans);
        }
    }
}
