//! Maintenance that PostgreSQL's autovacuum would do itself, but too rarely for some of our tables.

use database::{Db, Result, query};

/// Runs `analyze` on tables that PostgreSQL takes for empty and that are not: tables without
/// statistics, and queues that were empty at the last run. Autovacuum runs once a minute at
/// most. Until then PostgreSQL may scan a whole queue for each claim.
pub(crate) async fn gather_statistics(db: &Db) -> Result<()> {
    let unknown = "c.reltuples < 2 and (c.reltuples < 0 or pg_stat_get_live_tuples(c.oid) > 20)
         and pg_relation_size(c.oid) > 65536";
    tend(db, "analyze", unknown).await
}

/// Vacuums queues that consist mostly of dead rows. Autovacuum does it once a minute at most,
/// and a queue grows by every message sent in that minute.
///
/// While an old snapshot exists (a dump, a standby), no row can be removed. So a queue must
/// have gained half of its dead rows since the last vacuum: the next one is due at twice the
/// number.
pub(crate) async fn vacuum_queues(db: &Db) -> Result<()> {
    let spent = "c.relname in ('batches', 'outbox', 'recent_sends')
         and pg_stat_get_dead_tuples(c.oid) > 2000 + pg_stat_get_live_tuples(c.oid)
         and pg_stat_get_ins_since_vacuum(c.oid) > pg_stat_get_dead_tuples(c.oid) / 2";
    // A queue under vacuum by another process is skipped. The file is not truncated, because
    // truncation blocks everyone, and a queue that was long may become long again.
    tend(db, "vacuum (skip_locked, truncate false)", spent).await
}

/// Runs a command on those of our tables, `c`, that meet a condition, if PostgreSQL permits
/// this role.
async fn tend(db: &Db, command: &str, condition: &str) -> Result<()> {
    if db.is_embedded() {
        return Ok(());
    }
    let sql = format!(
        "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = current_schema() and c.relkind = 'r' and {condition}
             and pg_has_role(c.relowner, 'usage')"
    );
    let tables: Vec<String> = db.fetch_all(query(sql)).await?;
    for table in tables {
        let sql = format!("{command} \"{table}\"");
        db.execute(query(sql)).await?;
    }
    Ok(())
}
