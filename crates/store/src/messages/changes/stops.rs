//! Stops of messages, and their steps.

use crate::batches::batch::{Batch, Claimed, QueueState};
use crate::batches::batch_rows::{BatchRow, mark, select_batches};
use crate::batches::end::end_unsent;
use crate::buckets::Buckets;
use crate::deliveries::settle::Settled;
use crate::rows::{id_bytes, message_id};
use database::{Change, Db, Result, Sql, Tx, locking, query};
use domain::{Bucket, DeliveryStatus, MessageId};

/// Recipients ended in one transaction at most. A single batch always fits.
const MAX_ENDED: usize = 1_000;

/// A message whose unsent recipients must leave the memory of the nodes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stop {
    /// The bucket of the message.
    pub bucket: Bucket,
    /// The message.
    pub message: MessageId,
    /// `true` if its recipients end, `false` if they wait.
    pub cancels: bool,
    /// The time of the request, Unix milliseconds.
    pub requested_at_ms: i64,
}

/// The result of a step.
#[derive(Debug, Default)]
pub struct StopStep {
    /// The settled recipients.
    pub settled: Settled,
    /// `true` if no recipient waits and no node has an unsent one.
    pub is_done: bool,
    /// `true` if a node has a first batch of the message.
    pub is_claimed: bool,
}

struct StopRow {
    bucket: i16,
    message_id: Vec<u8>,
    cancels: bool,
    requested_at_ms: i64,
}

database::from_row!(StopRow {
    bucket,
    message_id,
    cancels,
    requested_at_ms
});

impl StopRow {
    fn stop(&self) -> Result<Stop> {
        Ok(Stop {
            bucket: Bucket(self.bucket.into()),
            message: message_id(&self.message_id)?,
            cancels: self.cancels,
            requested_at_ms: self.requested_at_ms,
        })
    }
}

pub(super) async fn all(db: &Db, limit: usize) -> Result<Vec<Stop>> {
    let rows: Vec<StopRow> = db
        .fetch_all(
            query(
                "select bucket, message_id, cancels, requested_at_ms from stops
                 order by bucket, message_id limit $1",
            )
            .bind(i64::try_from(limit).unwrap_or(i64::MAX)),
        )
        .await?;
    rows.iter().map(StopRow::stop).collect()
}

/// Returns the stop of a message and locks it.
pub(super) async fn lock(tx: &mut Tx, bucket: Bucket, message: MessageId) -> Result<Option<Stop>> {
    let find = Sql {
        sqlite: "select bucket, message_id, cancels, requested_at_ms from stops
             where bucket = $1 and message_id = $2",
        postgres: "select bucket, message_id, cancels, requested_at_ms from stops
             where bucket = $1 and message_id = $2 for update",
    };
    let row: Option<StopRow> = tx
        .fetch_optional(query(find).bind(bucket.0).bind(id_bytes(&message)))
        .await?;
    row.as_ref().map(StopRow::stop).transpose()
}

/// Stores a stop. A cancel replaces a pause.
pub(super) async fn insert(tx: &mut Tx, stop: &Stop) -> Result<()> {
    tx.execute(
        query(
            "insert into stops (bucket, message_id, cancels, requested_at_ms)
             values ($1, $2, $3, $4)
             on conflict (bucket, message_id) do update set cancels = excluded.cancels,
                 requested_at_ms = excluded.requested_at_ms",
        )
        .bind(stop.bucket.0)
        .bind(id_bytes(&stop.message))
        .bind(stop.cancels)
        .bind(stop.requested_at_ms),
    )
    .await?;
    Ok(())
}

pub(super) async fn remove(tx: &mut Tx, bucket: Bucket, message: MessageId) -> Result<()> {
    tx.execute(
        query("delete from stops where bucket = $1 and message_id = $2")
            .bind(bucket.0)
            .bind(id_bytes(&message)),
    )
    .await?;
    Ok(())
}

/// The first batches of a message, as one statement saw them. Each unsent recipient is in exactly
/// one.
pub(super) struct UnsentBatches(Vec<BatchRow>);

impl UnsentBatches {
    pub(super) async fn read(tx: &mut Tx, bucket: Bucket, message: MessageId) -> Result<Self> {
        let sql = select_batches!("where b.bucket = $1 and b.message_id = $2 and b.kind = 'first'");
        let rows: Vec<BatchRow> = tx
            .fetch_all(query(sql).bind(bucket.0).bind(id_bytes(&message)))
            .await?;
        Ok(Self(rows))
    }

    /// Reads the batches and locks them, so that no node claims one.
    pub(super) async fn lock(tx: &mut Tx, bucket: Bucket, message: MessageId) -> Result<Self> {
        let sql = locking!(
            select_batches!("where b.bucket = $1 and b.message_id = $2 and b.kind = 'first'");
            "for update of b"
        );
        let rows: Vec<BatchRow> = tx
            .fetch_all(query(sql).bind(bucket.0).bind(id_bytes(&message)))
            .await?;
        Ok(Self(rows))
    }

    /// Returns `true` if a node has such a batch.
    pub(super) fn is_claimed(&self) -> bool {
        self.0.iter().any(|row| row.claimed_by > 0)
    }

    /// Returns `true` if a node may have unsent recipients.
    pub(super) fn is_in_memory(&self) -> bool {
        self.0.iter().any(|row| row.claimed_by > 0 && !row.stopped)
    }

    /// Returns the batches that no node has.
    pub(super) fn unclaimed(self) -> Result<Vec<Claimed>> {
        let unclaimed = self.0.into_iter().filter(|row| row.claimed_by <= 0);
        unclaimed.map(BatchRow::claimed).collect()
    }
}

pub(super) async fn step(db: &Db, stop: &Stop, now_ms: i64) -> Result<StopStep> {
    let found = Db::in_time(async {
        let mut tx = db.read().await?;
        UnsentBatches::read(&mut tx, stop.bucket, stop.message).await
    });
    let found = found.await?;
    let (is_claimed, is_in_memory) = (found.is_claimed(), found.is_in_memory());
    let mut waiting = found.unclaimed()?;
    waiting.retain(|one| stop.cancels || one.batch.state == QueueState::Waiting);
    let is_done = waiting.is_empty() && !is_in_memory;
    let mut settled = Settled::default();
    for some in groups(waiting) {
        if stop.cancels {
            let end = EndUnsent {
                buckets: Buckets::of(db),
                stop: *stop,
                now_ms,
                some,
            };
            settled.join(db.change(end).await?);
        } else {
            let batches = some.into_iter().map(|one| one.batch).collect();
            let stop = *stop;
            db.change(PutAside { stop, batches }).await?;
        }
    }
    Ok(StopStep {
        settled,
        is_done,
        is_claimed,
    })
}

/// Splits batches into the groups of one transaction each.
fn groups(batches: Vec<Claimed>) -> impl Iterator<Item = Vec<Claimed>> {
    let mut left = batches.into_iter().peekable();
    std::iter::from_fn(move || {
        let (mut group, mut count) = (Vec::new(), 0);
        while let Some(next) =
            left.next_if(|next| count == 0 || count + next.batch.recipients.len() <= MAX_ENDED)
        {
            count += next.batch.recipients.len();
            group.push(next);
        }
        (!group.is_empty()).then_some(group)
    })
}

/// The end of some waiting recipients of a cancelled message.
struct EndUnsent {
    buckets: Buckets,
    stop: Stop,
    now_ms: i64,
    some: Vec<Claimed>,
}

impl Change for EndUnsent {
    type Output = Settled;

    async fn apply(&self, tx: &mut Tx) -> Result<Settled> {
        let stop = lock(tx, self.stop.bucket, self.stop.message).await?;
        // Another task may have finished the cancel. A batch that waits now is a retry and goes on.
        if !stop.is_some_and(|stop| stop.cancels) {
            return Ok(Settled::default());
        }
        let status = DeliveryStatus::Cancelled;
        end_unsent(tx, self.buckets, self.now_ms, self.some.clone(), status).await
    }
}

/// The move of waiting batches of a paused message.
struct PutAside {
    stop: Stop,
    batches: Vec<Batch>,
}

impl Change for PutAside {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let facts = super::facts::lock(tx, self.stop.bucket, self.stop.message).await?;
        // A resume may have come since.
        if facts.is_some_and(|facts| facts.clock.paused_at_ms.is_some()) {
            mark(tx, &self.batches, QueueState::Paused, 0).await?;
        }
        Ok(())
    }
}

struct ForgetPause(Stop);

impl Change for ForgetPause {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let stop = lock(tx, self.0.bucket, self.0.message).await?;
        if stop == Some(self.0) {
            remove(tx, self.0.bucket, self.0.message).await?;
        }
        Ok(())
    }
}

pub(super) async fn forget_pause(db: &Db, stop: &Stop) -> Result<()> {
    db.change(ForgetPause(*stop)).await
}
