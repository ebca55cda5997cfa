//! The index of recipients, which a sweep fills (decision 0043).
//!
//! A run is complete or it is not read. A sweep that ends half-way leaves a run that the next one
//! removes. The messages after the last run are compared one by one.

mod build;
mod find;
pub(crate) mod run;

pub(super) use find::{Found, find};

use crate::rows::id_bytes;
use database::{Change, Db, Result, Tx, query};
use domain::search::{RunSize, RunTimes};
use domain::{Bucket, MessageId};
use run::{COMPLETE, NewRun, REMOVING, mark};

/// Rows of postings removed in one transaction at most.
const REMOVED_ROWS: i64 = 256;

/// The index of recipients.
#[derive(Clone, Copy)]
pub struct RecipientIndex<'s> {
    pub(crate) db: &'s Db,
}

impl RecipientIndex<'_> {
    /// Returns the complete runs of a bucket, oldest first.
    pub async fn runs(self, bucket: Bucket) -> Result<Vec<RunSize>> {
        let rows: Vec<(i64, i64, i64, i64, i64)> = self
            .db
            .fetch_all(
                query(
                    "select run_id, from_ms, until_ms, unit_ms, recipients from recipient_runs
                     where bucket = $1 and state = $2 order by from_ms",
                )
                .bind(bucket.0)
                .bind(COMPLETE),
            )
            .await?;
        let run =
            |(id, from_ms, until_ms, unit_ms, recipients): (i64, i64, i64, i64, i64)| RunSize {
                id,
                times: RunTimes {
                    from_ms,
                    until_ms,
                    unit_ms,
                },
                recipients: recipients.unsigned_abs(),
            };
        Ok(rows.into_iter().map(run).collect())
    }

    /// Counts the recipients of the messages that were accepted from one moment to another.
    pub async fn count(self, bucket: Bucket, from_ms: i64, until_ms: i64) -> Result<u64> {
        let octets: i64 = self
            .db
            .fetch_one(
                query(
                    "select cast(coalesce(sum(length(recipients)), 0) as bigint) from messages
                     where bucket = $1 and message_id >= $2 and message_id < $3",
                )
                .bind(bucket.0)
                .bind(id_bytes(&MessageId::lowest_at(from_ms)))
                .bind(id_bytes(&MessageId::lowest_at(until_ms))),
            )
            .await?;
        Ok(octets.unsigned_abs() / domain::recipient_list::WIDTH as u64)
    }

    /// Builds a run from the messages of its time, in several commits. Returns its number of
    /// recipients and the end of its time.
    pub async fn build(self, bucket: Bucket, run: NewRun) -> Result<(u64, i64)> {
        build::build(self.db, bucket, run).await
    }

    /// Marks runs for removal whose messages were all removed, if they end before a time.
    pub async fn expire(self, bucket: Bucket, before_ms: i64) -> Result<()> {
        for run in self.runs(bucket).await? {
            if run.times.until_ms > before_ms {
                return Ok(());
            }
            let (from, until) = (run.times.from_ms, run.times.until_ms);
            let left: Option<i64> = self
                .db
                .fetch_optional(
                    query(
                        "select cost from messages where bucket = $1 and message_id >= $2
                             and message_id < $3 limit 1",
                    )
                    .bind(bucket.0)
                    .bind(id_bytes(&MessageId::lowest_at(from)))
                    .bind(id_bytes(&MessageId::lowest_at(until))),
                )
                .await?;
            if left.is_none() {
                let ids = vec![run.id];
                self.db.change(Mark { bucket, ids }).await?;
            }
        }
        Ok(())
    }

    /// Removes the runs that are under removal or were left incomplete. One sweep works on a bucket
    /// at a time.
    pub async fn remove_unread(self, bucket: Bucket) -> Result<()> {
        let ids: Vec<i64> = self
            .db
            .fetch_all(
                query("select run_id from recipient_runs where bucket = $1 and state <> $2")
                    .bind(bucket.0)
                    .bind(COMPLETE),
            )
            .await?;
        if ids.is_empty() {
            return Ok(());
        }
        // A node that lost the bucket can no longer complete them.
        let marking = Mark {
            bucket,
            ids: ids.clone(),
        };
        self.db.change(marking).await?;
        for id in ids {
            while self.db.change(Remove { bucket, id }).await? {}
        }
        Ok(())
    }
}

/// Marks runs for removal.
struct Mark {
    bucket: Bucket,
    ids: Vec<i64>,
}

impl Change for Mark {
    type Output = ();
    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        mark(tx, self.bucket, &self.ids).await
    }
}

/// A removal of some rows of a run, and then of the run.
struct Remove {
    bucket: Bucket,
    id: i64,
}

impl Change for Remove {
    /// `true` if more is left.
    type Output = bool;
    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let removed = tx
            .execute(
                query(
                    "delete from recipient_postings where bucket = $1 and run_id = $2
                         and first_posting in (select first_posting from recipient_postings
                         where bucket = $1 and run_id = $2 order by first_posting limit $3)",
                )
                .bind(self.bucket.0)
                .bind(self.id)
                .bind(REMOVED_ROWS),
            )
            .await?;
        if removed > 0 {
            return Ok(true);
        }
        tx.execute(
            query("delete from recipient_runs where bucket = $1 and run_id = $2 and state = $3")
                .bind(self.bucket.0)
                .bind(self.id)
                .bind(REMOVING),
        )
        .await?;
        Ok(false)
    }
}
