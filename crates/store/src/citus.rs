//! The statements that distribute the tables over the workers of Citus, as a text for psql. It was
//! checked on Citus 13.2.2.

use std::fmt::Write as _;

/// Reference tables, of which each worker has a copy. They are small, read beside messages, and
/// have no bucket. A referenced table comes first.
const REFERENCE: [&str; 12] = [
    "accounts",
    "holds",
    "tokens",
    "sender_ids",
    "callback_secrets",
    "audit",
    "paused_blocks",
    "content_rules",
    "marks",
    "nodes",
    "binds",
    "rates",
];

/// Distributed tables, placed by bucket. All are colocated with the first.
const DISTRIBUTED: [&str; 10] = [
    "wallets",
    "ledger",
    "recent_sends",
    "messages",
    "batches",
    "deliveries",
    "carrier_ids",
    "parked_receipts",
    "outbox",
    "callback_attempts",
];

/// Shards of each table: the fewest for which no two buckets share one. Each bucket can then be
/// moved alone.
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

/// Returns the statements for psql that distribute the tables of the migrations, in a working
/// order.
pub fn citus() -> String {
    let mut text = BEFORE.to_owned();
    // A write to a `String` cannot fail.
    text.push_str("\n-- A copy on each worker.\n");
    for table in REFERENCE {
        let _ = writeln!(text, "select create_reference_table('{table}');");
    }
    text.push_str("\n-- By bucket, and those of one bucket on one worker.\n");
    let [first, others @ ..] = DISTRIBUTED;
    let _ = writeln!(
        text,
        "select create_distributed_table('{first}', 'bucket', colocate_with => 'none', shard_count => {SHARDS});"
    );
    for table in others {
        let _ = writeln!(
            text,
            "select create_distributed_table('{table}', 'bucket', colocate_with => '{first}');"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tables of the PostgreSQL schema.
    fn tables() -> Vec<&'static str> {
        let lines = include_str!("../migrations/postgres/0001_initial.sql").lines();
        let created = lines.filter_map(|line| line.strip_prefix("create table "));
        created.filter_map(|line| line.split(' ').next()).collect()
    }

    #[test]
    fn every_table_of_the_schema_is_distributed_or_copied_once() {
        let (text, tables) = (citus(), tables());
        assert!(tables.len() > 15, "{tables:?}");
        for table in &tables {
            let made = text.matches(&format!("_table('{table}'")).count();
            assert_eq!(made, 1, "{table}");
        }
        assert_eq!(text.matches("_table('").count(), tables.len());
    }

    #[test]
    fn triggers_and_references_come_before_their_use() {
        let text = citus();
        let at = |words: &str| text.find(words).unwrap();
        assert!(at("set citus.enable_unsafe_triggers to on;") < at("_table('ledger'"));
        assert!(at("_table('accounts'") < at("_table('tokens'"));
        assert!(at("_table('accounts'") < at("_table('sender_ids'"));
        assert!(at("_table('wallets'") < at("colocate_with => 'wallets'"));
        assert!(text.contains("Checked on Citus 13.2.2"));
    }
}
