//! What waits, and what is in hand elsewhere.

use super::{BatchRow, COLUMNS, Claimed, MOST_BATCHES};
use crate::Store;
use crate::error::Result;
use crate::sql::on;
use domain::Priority;
use std::collections::HashSet;
use std::sync::Arc;

impl Store {
    /// The batches that other nodes than `node` have in hand: on SQLite, those of a process that died.
    pub async fn claimed_by_others(
        &self,
        carriers: &[Arc<str>],
        node: i64,
    ) -> Result<Vec<Claimed>> {
        let mut tx = self.db.read().await?;
        let mut found = Vec::new();
        let carriers: HashSet<&Arc<str>> = carriers.iter().collect();
        for bucket in crate::rows::buckets(self.db.is_embedded()) {
            for carrier in &carriers {
                let sql = format!(
                    "select {COLUMNS} where b.bucket = $1 and b.carrier = $2 and b.claimed_by > 0
                         and b.claimed_by <> $3"
                );
                let rows: Vec<BatchRow> = on!(&mut tx, |connection| sqlx::query_as(
                    sqlx::AssertSqlSafe(sql)
                )
                .bind(bucket.0)
                .bind(&***carrier)
                .bind(node)
                .fetch_all(connection)
                .await?);
                for row in rows {
                    found.push(row.claimed()?);
                }
            }
        }
        Ok(found)
    }

    /// Batches that wait and whose time to be sent is over, some at a time.
    pub async fn late_batches(&self, now_ms: i64) -> Result<Vec<Claimed>> {
        let sql =
            format!("select {COLUMNS} where b.claimed_by = 0 and b.expires_at_ms <= $1 limit $2");
        let rows: Vec<BatchRow> = on!(&mut self.db.read().await?, |connection| {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(now_ms)
                .bind(MOST_BATCHES)
                .fetch_all(connection)
                .await?
        });
        rows.into_iter().map(BatchRow::claimed).collect()
    }

    /// When the next batch of a carrier is due, if one waits.
    pub async fn next_due(&self, carrier: &str) -> Result<Option<i64>> {
        let mut tx = self.db.read().await?;
        let mut next = None;
        for bucket in crate::rows::buckets(self.db.is_embedded()) {
            for priority in Priority::ALL {
                let due: Option<i64> = on!(&mut tx, |connection| sqlx::query_scalar(
                    "select due_at_ms from batches where bucket = $1 and carrier = $2
                         and claimed_by = 0 and priority = $3 order by due_at_ms limit 1",
                )
                .bind(bucket.0)
                .bind(carrier)
                .bind(priority.rank())
                .fetch_optional(connection)
                .await?);
                next = next.into_iter().chain(due).min();
            }
        }
        Ok(next)
    }

    /// Recipients that wait, by carrier.
    pub async fn queue_depths(&self) -> Result<Vec<(String, i64)>> {
        // Seven octets a number, see `domain::packed`.
        let rows: Vec<(String, i64)> = on!(&mut self.db.read().await?, |connection| {
            sqlx::query_as(
                "select carrier, cast(sum(length(recipients) / 7) as bigint) from batches
                 where claimed_by = 0 group by carrier",
            )
            .fetch_all(connection)
            .await?
        });
        Ok(rows)
    }
}
