//! Claims of due batches, and their release.

use super::batch::{Batch, BatchKind, Claimed, QueueState};
use super::batch_rows::{BatchRow, MAX_BATCHES, insert, mark, select_batches, shrink, take};
use super::pause;
use super::queue::next_due;
use super::wanted::{read_texts, still_to_send};
use crate::buckets::Buckets;
use crate::deliveries::settle;
use database::{Change, Db, Outage, Result, Tx, locking, query};
use domain::{BatchId, Bucket, NodeId, Priority};
use std::sync::Arc;

/// Batches that a claim reads first. The batches of a campaign soon fill a window. Further rows are
/// read in vain, and on PostgreSQL they stay locked for other nodes.
const FIRST_BATCHES: usize = 8;

/// Log limiter for failed claims in one bucket after claims in others.
static CLAIMS: Outage = Outage::of("some buckets cannot be claimed from");

/// A request for due batches of a carrier.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The carrier.
    pub carrier: Arc<str>,
    /// The node that claims.
    pub node: NodeId,
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// The end of the claim, Unix milliseconds.
    pub until_ms: i64,
    /// Recipients to claim at most, in all batches together.
    pub recipients: usize,
    /// Batches that one transaction looks at, at most. Other changes wait for its end.
    pub batches: usize,
    /// The least urgent priority that is claimed.
    pub priority: Priority,
    /// The first of [`Claims::split_ids`] ids, for the remainders of split batches.
    pub next_id: BatchId,
}

impl Claim {
    fn priorities(&self) -> impl Iterator<Item = Priority> {
        let least = self.priority;
        Priority::ALL
            .into_iter()
            .filter(move |&priority| priority <= least)
    }
}

struct ClaimBatches {
    claim: Claim,
    bucket: Bucket,
}

/// The outcome of one transaction.
struct Taken {
    claimed: Vec<Claimed>,
    /// `true` if more due batches may follow those that it looked at, and there is room for them.
    more: bool,
}

impl Change for ClaimBatches {
    type Output = Taken;

    async fn apply(&self, tx: &mut Tx) -> Result<Taken> {
        let mut claimed = Vec::new();
        let (mut room, mut left) = (self.claim.recipients, self.claim.batches.max(1));
        for priority in self.claim.priorities() {
            let mut most = FIRST_BATCHES;
            while room > 0 && left > 0 {
                most = most.min(room).min(left);
                let found = self.due(tx, priority, most).await?;
                let is_last = found.len() < most;
                left -= found.len();
                claimed.extend(self.take(tx, found, &mut room).await?);
                if is_last {
                    break;
                }
                most = MAX_BATCHES;
            }
        }
        let more = room > 0 && left == 0;
        let mut claimed = still_to_send(tx, claimed, self.claim.now_ms).await?;
        read_texts(tx, &mut claimed).await?;
        Ok(Taken { claimed, more })
    }

    async fn is_committed(&self, tx: &mut Tx, taken: &Taken) -> Result<bool> {
        let Some(Claimed { batch, .. }) = taken.claimed.first() else {
            return Ok(true);
        };
        let found: Option<i64> = tx
            .fetch_optional(
                query(
                    "select leg from batches where bucket = $1 and carrier = $2
                 and claimed_by = $3
                 and priority = $4 and due_at_ms = $5 and batch_id = $6",
                )
                .bind(batch.bucket.0)
                .bind(&*batch.carrier)
                .bind(batch.state.stored())
                .bind(batch.priority.rank())
                .bind(batch.due_at_ms)
                .bind(batch.id.0),
            )
            .await?;
        Ok(found.is_some())
    }
}

impl ClaimBatches {
    /// Returns the due batches, each with the reason why it must wait, if any.
    async fn due(
        &self,
        tx: &mut Tx,
        priority: Priority,
        most: usize,
    ) -> Result<Vec<(Claimed, Option<QueueState>)>> {
        let sql = locking!(
            select_batches!("where b.bucket = $1 and b.carrier = $2 and b.claimed_by = 0
                 and b.priority = $3 and b.due_at_ms <= $4
             order by b.due_at_ms, b.batch_id limit $5");
            "for update of b skip locked"
        );
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        let rows: Vec<BatchRow> = tx
            .fetch_all(
                query(sql)
                    .bind(self.bucket.0)
                    .bind(&*self.claim.carrier)
                    .bind(priority.rank())
                    .bind(self.claim.now_ms)
                    .bind(limit),
            )
            .await?;
        rows.into_iter()
            .map(|row| {
                let waits = match (row.is_paused, row.is_held) {
                    (true, _) => Some(QueueState::Paused),
                    (false, true) => Some(QueueState::Held),
                    (false, false) => None,
                };
                Ok((row.claimed()?, waits))
            })
            .collect()
    }

    /// Claims batches up to the requested number of recipients. The last batch is split if it is
    /// too large, which fills the claim, so no second batch is split. The remainder waits under
    /// another id: a reader of a waiting batch finds it with the same recipients, or not at all.
    /// Batches of accounts that may not send, and of paused messages, are moved out of the way of
    /// claims.
    async fn take(
        &self,
        tx: &mut Tx,
        found: Vec<(Claimed, Option<QueueState>)>,
        room: &mut usize,
    ) -> Result<Vec<Claimed>> {
        let state = QueueState::Claimed(self.claim.node);
        let (mut waiting, mut taken) = (Vec::new(), Vec::new());
        let (mut held, mut paused) = (Vec::new(), Vec::new());
        for (mut claimed, waits) in found {
            match waits {
                Some(QueueState::Paused) => {
                    paused.push(claimed.batch);
                    continue;
                }
                Some(_) => {
                    held.push(claimed.batch);
                    continue;
                }
                None => {}
            }
            let count = claimed.batch.recipients.len();
            if *room == 0 {
                break;
            }
            if count > *room {
                let rest = Batch {
                    recipients: claimed.batch.recipients.split_off(*room),
                    id: self.claim.next_id,
                    ..claimed.batch.clone()
                };
                shrink(tx, &[(&claimed.batch, &claimed.batch.recipients[..])]).await?;
                insert(tx, &[&rest]).await?;
            }
            *room -= claimed.batch.recipients.len();
            waiting.push(claimed.batch.clone());
            claimed.batch.state = state;
            claimed.batch.claimed_until_ms = self.claim.until_ms;
            taken.push(claimed);
        }
        mark(tx, &waiting, state, self.claim.until_ms).await?;
        mark(tx, &held, QueueState::Held, 0).await?;
        pause::put_aside(tx, paused).await?;
        Ok(taken)
    }
}

struct Release {
    buckets: Buckets,
    claimed: Vec<Batch>,
    due_at_ms: i64,
    carrier: Option<Arc<str>>,
    now_ms: i64,
}

impl Change for Release {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        // A batch may no longer be held. A run whose commit was not acknowledged gave it back, or
        // another node claimed it while this node was taken for dead.
        let held = take(tx, &self.claimed.iter().collect::<Vec<_>>()).await?;
        let held = self.claimed.iter().filter(|batch| held.contains(&batch.id));
        let second_legs = held.clone().filter(|batch| batch.kind == BatchKind::Backup);
        let second_legs: Vec<&Batch> = second_legs.collect();
        let owed = settle::put_back(tx, &second_legs).await?;
        let waiting: Vec<Batch> = held
            .map(|batch| {
                let carrier = self.carrier.as_ref().unwrap_or(&batch.carrier);
                // The faults are counted for one carrier.
                let stays = *carrier == batch.carrier;
                Batch {
                    state: QueueState::Waiting,
                    claimed_until_ms: 0,
                    due_at_ms: self.due_at_ms,
                    carrier: Arc::clone(carrier),
                    tries: if stays { batch.tries } else { 0 },
                    ..batch.clone()
                }
            })
            .collect();
        insert(tx, &waiting.iter().collect::<Vec<_>>()).await?;
        settle::refund(tx, self.buckets, self.now_ms, owed).await
    }
}

/// The claims of a node.
#[derive(Clone, Copy)]
pub struct Claims<'s> {
    pub(crate) db: &'s Db,
}

impl Claims<'_> {
    /// Returns the number of ids that a claim may need: one for each priority in each bucket.
    pub fn split_ids(self) -> usize {
        Buckets::of(self.db).all().count() * Priority::ALL.len()
    }

    /// Claims due batches of a carrier, the most urgent first. No transaction claims in two
    /// buckets, and on PostgreSQL buckets without due batches are skipped.
    pub async fn claim(self, claim: Claim) -> Result<Vec<Claimed>> {
        if self.db.is_embedded() {
            let bucket = Bucket(0);
            return self.claim_in(bucket, claim).await;
        }
        let mut claimed: Vec<Claimed> = Vec::new();
        let due = self.due_buckets(&claim).await?;
        for (next_id, (priority, bucket)) in (claim.next_id.0..).zip(due) {
            let taken: usize = claimed.iter().map(|one| one.batch.recipients.len()).sum();
            let room = claim.recipients.saturating_sub(taken);
            let batches = claim.batches.saturating_sub(claimed.len());
            if room == 0 || batches == 0 {
                break;
            }
            let claim = Claim {
                recipients: room,
                batches,
                priority,
                next_id: BatchId(next_id),
                ..claim.clone()
            };
            match self.claim_in(bucket, claim).await {
                Ok(more) => {
                    CLAIMS.worked();
                    claimed.extend(more);
                }
                // The error is returned only if nothing is claimed yet: claims must not be lost.
                Err(error) if claimed.is_empty() => return Err(error),
                Err(error) => {
                    CLAIMS.failed(&error);
                    break;
                }
            }
        }
        Ok(claimed)
    }

    /// Claims in one bucket. Transactions that only move batches out of the way are followed by
    /// another, as a caller takes an empty claim for the end of the queue.
    async fn claim_in(self, bucket: Bucket, claim: Claim) -> Result<Vec<Claimed>> {
        loop {
            let claim = claim.clone();
            let taken = self.db.change(ClaimBatches { claim, bucket }).await?;
            if !(taken.more && taken.claimed.is_empty()) {
                return Ok(taken.claimed);
            }
        }
    }

    /// Returns the buckets with due batches, by priority. The buckets of one priority rotate.
    async fn due_buckets(self, claim: &Claim) -> Result<Vec<(Priority, Bucket)>> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let mut due = Vec::new();
            for bucket in Buckets::of(self.db).all() {
                for (priority, due_at_ms) in next_due(&mut tx, bucket, &claim.carrier).await? {
                    if priority <= claim.priority && due_at_ms <= claim.now_ms {
                        due.push((priority, bucket));
                    }
                }
            }
            let turn = claim.next_id.0;
            due.sort_by_key(|&(priority, bucket)| (priority, (bucket.0 + turn).rem_euclid(16)));
            Ok(due)
        })
        .await
    }

    /// Releases claimed batches unsent: due at `due_at_ms`, for another carrier if one is named.
    /// Batches that are no longer held stay unchanged, so the call may be repeated.
    pub async fn release(
        self,
        claimed: Vec<Batch>,
        due_at_ms: i64,
        carrier: Option<Arc<str>>,
        now_ms: i64,
    ) -> Result<()> {
        self.db
            .change(Release {
                buckets: Buckets::of(self.db),
                claimed,
                due_at_ms,
                carrier,
                now_ms,
            })
            .await
    }
}
