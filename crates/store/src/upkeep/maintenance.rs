//! What PostgreSQL would look after itself, but for some of our tables not often enough.

use crate::Store;
use database::{Result, query};

impl Store {
    /// Has PostgreSQL look at tables that it takes for empty, once there is something in them: those that it
    /// has never looked at, and queues that were empty when it last did. It looks by itself once a minute at
    /// most, and until then it may go through a whole queue for each thing that is claimed.
    pub async fn gather_statistics(&self) -> Result<()> {
        let unknown = "c.reltuples < 2 and (c.reltuples < 0 or pg_stat_get_live_tuples(c.oid) > 20)
             and pg_relation_size(c.oid) > 65536";
        self.tend("analyze", unknown).await
    }

    /// Has PostgreSQL make room where rows of a queue were: most of what it holds by then. It does so by itself once a
    /// minute at most, and a queue takes in all that is sent in a minute, row by row.
    ///
    /// While somebody reads what was there an hour ago (a dump, a standby), nothing can be removed. So the queue must have
    /// taken in half of what is to go since the last vacuum: the next one is due when there is twice as much.
    pub async fn vacuum_queues(&self) -> Result<()> {
        let spent = "c.relname in ('batches', 'outbox', 'recent_sends')
             and pg_stat_get_dead_tuples(c.oid) > 2000 + pg_stat_get_live_tuples(c.oid)
             and pg_stat_get_ins_since_vacuum(c.oid) > pg_stat_get_dead_tuples(c.oid) / 2";
        // One that is vacuumed already is left to whoever does so. A queue that was long may be again: it keeps its size
        // until the server looks, since to shorten it everybody would have to wait.
        self.tend("vacuum (skip_locked, truncate false)", spent)
            .await
    }

    /// Runs a command on those of our tables, `c`, that meet a condition, where PostgreSQL lets this role.
    async fn tend(&self, command: &str, condition: &str) -> Result<()> {
        if self.db.is_embedded() {
            return Ok(());
        }
        let sql = format!(
            "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where n.nspname = current_schema() and c.relkind = 'r' and {condition}
                 and pg_has_role(c.relowner, 'usage')"
        );
        let tables: Vec<String> = self.db.fetch_all(query(sql)).await?;
        for table in tables {
            let sql = format!("{command} \"{table}\"");
            self.db.execute(query(sql)).await?;
        }
        Ok(())
    }
}
