//! Queries about waiting batches, and about batches claimed by other nodes.

use super::batch::Claimed;
use super::batch_rows::{BatchRow, MAX_BATCHES, select_batches};
use crate::buckets::Buckets;
use crate::deliveries::doubts::{self, Doubtful};
use database::{Db, Result, Tx, query};
use domain::{Bucket, Priority};

/// Returns the due time of the next waiting batch of each priority.
pub(super) async fn next_due(
    tx: &mut Tx,
    bucket: Bucket,
    carrier: &str,
) -> Result<Vec<(Priority, i64)>> {
    // Each priority is found by the key. The minimum of a whole bucket would need a search.
    let rows: Vec<(i64, Option<i64>)> = tx
        .fetch_all(
            query(
                "with v (priority) as (values (0), (1), (2))
         select cast(v.priority as bigint), (
             select b.due_at_ms from batches b where b.bucket = $1 and b.carrier = $2
                 and b.claimed_by = 0 and b.priority = v.priority order by b.due_at_ms limit 1)
         from v",
            )
            .bind(bucket.0)
            .bind(carrier),
        )
        .await?;
    Ok(rows
        .into_iter()
        .filter_map(|(rank, due_at_ms)| Some((Priority::from_rank(rank)?, due_at_ms?)))
        .collect())
}

/// A carrier, and the due time of its next batch of each priority.
type NextDue = (String, Option<i64>, Option<i64>, Option<i64>);

/// The batches that wait for their carriers.
#[derive(Clone, Copy)]
pub struct Queues<'s> {
    pub(crate) db: &'s Db,
}

impl Queues<'_> {
    /// Returns the carriers with batches in a bucket, including unknown carriers.
    pub async fn carriers(self, bucket: Bucket) -> Result<Vec<String>> {
        // The query jumps from one carrier to the next by the key, however many batches each has.
        self.db
            .fetch_all(
                query(
                    "with recursive v (carrier) as (
                     select cast('' as text)
                     union all
                     select (select b.carrier from batches b
                         where b.bucket = $1 and b.carrier > v.carrier order by b.carrier
                             limit 1)
                     from v where v.carrier is not null)
                 select v.carrier from v where v.carrier <> ''",
                )
                .bind(bucket.0),
            )
            .await
    }

    /// Returns the due time of the next waiting batch of each carrier and priority, in each bucket.
    pub async fn next_due(self) -> Result<Vec<(String, i64)>> {
        // The query jumps as above. A single priority is found by the key, whatever the planner
        // knows. For several it may scan all waiting batches.
        let sql = "with recursive v (carrier) as (
                 select cast('' as text)
                 union all
                 select (select b.carrier from batches b
                     where b.bucket = $1 and b.carrier > v.carrier order by b.carrier limit 1)
                 from v where v.carrier is not null)
             select v.carrier,
                 (select b.due_at_ms from batches b where b.bucket = $1 and b.carrier = v.carrier
                     and b.claimed_by = 0 and b.priority = 0 order by b.due_at_ms limit 1),
                 (select b.due_at_ms from batches b where b.bucket = $1 and b.carrier = v.carrier
                     and b.claimed_by = 0 and b.priority = 1 order by b.due_at_ms limit 1),
                 (select b.due_at_ms from batches b where b.bucket = $1 and b.carrier = v.carrier
                     and b.claimed_by = 0 and b.priority = 2 order by b.due_at_ms limit 1)
             from v where v.carrier <> ''";
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let mut next = Vec::new();
            for bucket in Buckets::of(self.db).all() {
                let found: Vec<NextDue> = tx.fetch_all(query(sql).bind(bucket.0)).await?;
                for (carrier, otp, normal, bulk) in found {
                    let due = [otp, normal, bulk].into_iter().flatten();
                    next.extend(due.map(|due_at_ms| (carrier.clone(), due_at_ms)));
                }
            }
            Ok(next)
        })
        .await
    }

    /// Returns the batches of a bucket that are claimed by a missing node.
    pub async fn orphans(self, carrier: &str, bucket: Bucket) -> Result<Vec<Claimed>> {
        let sql = select_batches!(
            "where b.bucket = $1 and b.carrier = $2 and b.claimed_by > 0
                 and b.claimed_by not in (select n.node from nodes n)"
        );
        let rows: Vec<BatchRow> = self
            .db
            .fetch_all(query(sql).bind(bucket.0).bind(carrier))
            .await?;
        rows.into_iter().map(BatchRow::claimed).collect()
    }

    /// Returns waiting or held batches of a bucket that have expired, some at a time. The clock of a
    /// paused message stands still for the recipients that no carrier has.
    pub async fn late(self, bucket: Bucket, now_ms: i64) -> Result<Vec<Claimed>> {
        let sql = select_batches!(
            "where b.bucket = $1 and b.claimed_by <= 0 and b.expires_at_ms <= $2
                 and (b.kind <> 'first' or m.paused_at_ms is null) limit $3"
        );
        let rows: Vec<BatchRow> = self
            .db
            .fetch_all(
                query(sql)
                    .bind(bucket.0)
                    .bind(now_ms)
                    .bind(i64::try_from(MAX_BATCHES).unwrap_or(i64::MAX)),
            )
            .await?;
        rows.into_iter().map(BatchRow::claimed).collect()
    }

    /// Returns the waiting recipients of a bucket by carrier: all, and the ones that are deferred
    /// until that moment or longer.
    pub async fn depths(self, bucket: Bucket, until_ms: i64) -> Result<Vec<(String, i64, i64)>> {
        // The list has seven bytes a number, see `domain::recipient_list`.
        let rows = self
            .db
            .fetch_all(
                query(
                    "select carrier, cast(sum(length(recipients) / 7) as bigint),
                     cast(sum(case when due_at_ms >= $2 or claimed_by < 0
                         then length(recipients) / 7 else 0 end)
                         as bigint)
                 from batches where bucket = $1 and claimed_by <= 0 group by carrier",
                )
                .bind(bucket.0)
                .bind(until_ms),
            )
            .await?;
        Ok(rows)
    }

    /// Returns the number of recipients in doubt in a bucket, by their last carrier.
    pub async fn doubt_counts(self, bucket: Bucket) -> Result<Vec<(String, i64)>> {
        doubts::counts(self.db, bucket).await
    }

    /// Returns some recipients in doubt of a bucket.
    pub async fn doubtful(self, bucket: Bucket, limit: u32) -> Result<Vec<Doubtful>> {
        doubts::some(self.db, bucket, limit).await
    }
}
