//! What PostgreSQL's planner knows of our tables.

use crate::Store;
use crate::error::Result;
use crate::sql::read;

impl Store {
    /// Has PostgreSQL look at tables that it takes for empty, once there is something in them: those that it
    /// has never looked at, and queues that were empty when it last did. It looks by itself once a minute at
    /// most, and until then it may go through a whole queue for each thing that is claimed.
    pub async fn gather_statistics(&self) -> Result<()> {
        if self.db.is_embedded() {
            return Ok(());
        }
        let unknown: Vec<String> = read!(self.db, |connection| {
            sqlx::query_scalar(
                "select c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
                 where n.nspname = current_schema() and c.relkind = 'r' and c.reltuples < 2
                     and (c.reltuples < 0 or pg_stat_get_live_tuples(c.oid) > 20)
                     and pg_relation_size(c.oid) > 65536 and pg_has_role(c.relowner, 'usage')",
            )
            .fetch_all(connection)
            .await?
        });
        for table in unknown {
            let sql = format!("analyze \"{table}\"");
            read!(self.db, |connection| sqlx::query(sqlx::AssertSqlSafe(sql))
                .execute(connection)
                .await
                .map(drop)?);
        }
        Ok(())
    }
}
