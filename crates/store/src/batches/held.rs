//! Held batches, whose accounts may not send. They lie apart from waiting batches, so that claims
//! need not skip them. A claim that finds one among the waiting batches moves it.

use super::batch::{Batch, Claimed, QueueState};
use super::batch_rows::{BatchRow, mark, select_batches};
use super::end::end_unsent;
use super::queue::Queues;
use crate::accounts::holds;
use crate::buckets::Buckets;
use crate::deliveries::settle::Settled;
use database::{Change, Db, Result, Tx, locking, query};
use domain::{AccountId, Bucket, DeliveryStatus, Priority, Queued};

/// Batches read in one step.
const STEP: i64 = 1_000;

/// Recipients cancelled in one transaction at most. A single batch always fits.
const MAX_CANCELLED: usize = 1_000;

/// A move of batches between the waiting and the held ones.
struct Move {
    batches: Vec<Batch>,
    to: QueueState,
    /// The account. A batch is moved only while the account's hold asks for it.
    account: AccountId,
}

impl Change for Move {
    /// The number of batches moved.
    type Output = usize;

    async fn apply(&self, tx: &mut Tx) -> Result<usize> {
        let goes_out = holds::of(tx, self.account).await? == Queued::Send;
        if goes_out != (self.to == QueueState::Waiting) {
            return Ok(0);
        }
        mark(tx, &self.batches, self.to, 0).await
    }
}

struct Cancel {
    buckets: Buckets,
    bucket: Bucket,
    carrier: String,
    account: AccountId,
    now_ms: i64,
}

impl Change for Cancel {
    /// The settled recipients, and `true` if more may be left.
    type Output = (Settled, bool);

    async fn apply(&self, tx: &mut Tx) -> Result<(Settled, bool)> {
        if holds::of(tx, self.account).await? != Queued::Cancel {
            return Ok((Settled::default(), false));
        }
        let sql = locking!(
            select_batches!("where b.bucket = $1 and b.carrier = $2 and b.claimed_by in ($3, $6)
                 and m.account_id = $4 limit $5");
            "for update of b"
        );
        let rows: Vec<BatchRow> = tx
            .fetch_all(
                query(sql)
                    .bind(self.bucket.0)
                    .bind(&*self.carrier)
                    .bind(QueueState::Held.stored())
                    .bind(self.account.0)
                    .bind(STEP / 4)
                    .bind(QueueState::Paused.stored()),
            )
            .await?;
        let mut recipients = 0;
        let mut queued: Vec<Claimed> = Vec::new();
        for row in rows {
            let claimed = row.claimed()?;
            if recipients > 0 && recipients + claimed.batch.recipients.len() > MAX_CANCELLED {
                break;
            }
            recipients += claimed.batch.recipients.len();
            queued.push(claimed);
        }
        if queued.is_empty() {
            return Ok((Settled::default(), false));
        }
        let status = DeliveryStatus::Failed;
        let settled = end_unsent(tx, self.buckets, self.now_ms, queued, status).await?;
        Ok((settled, true))
    }
}

/// The batches of accounts that may not send.
#[derive(Clone, Copy)]
pub struct HeldBatches<'s> {
    pub(crate) db: &'s Db,
}

impl HeldBatches<'_> {
    /// Applies the hold of an account to its queued batches: they are held, released or cancelled.
    /// It returns the settled recipients. Batches that a node has claimed are not queued; if they
    /// return, the next claim finds them.
    pub async fn settle_queued(self, account: AccountId, now_ms: i64) -> Result<Settled> {
        let bucket = Buckets::of(self.db).account(account);
        let queued = holds::all(self.db).await?.remove(&account);
        if queued.is_none() {
            self.move_all(bucket, account, QueueState::Held, QueueState::Waiting)
                .await?;
            return Ok(Settled::default());
        }
        self.move_all(bucket, account, QueueState::Waiting, QueueState::Held)
            .await?;
        if queued == Some(Queued::Cancel) {
            return self.cancel(bucket, account, now_ms).await;
        }
        Ok(Settled::default())
    }

    /// Applies the holds of a bucket to batches that were held since, or that an interrupted run
    /// left.
    pub async fn settle_held(self, bucket: Bucket, now_ms: i64) -> Result<Settled> {
        let mut settled = Settled::default();
        let held = self.held_accounts(bucket).await?;
        if held.is_empty() {
            return Ok(settled);
        }
        let holds = holds::all(self.db).await?;
        for account in held {
            match holds.get(&account) {
                None => {
                    self.move_all(bucket, account, QueueState::Held, QueueState::Waiting)
                        .await?;
                }
                Some(Queued::Cancel) => {
                    settled.join(self.cancel(bucket, account, now_ms).await?);
                }
                Some(Queued::Hold | Queued::Send) => {}
            }
        }
        Ok(settled)
    }

    /// Returns the accounts with held batches in a bucket.
    async fn held_accounts(self, bucket: Bucket) -> Result<Vec<AccountId>> {
        let mut accounts = Vec::new();
        for carrier in self.carriers(bucket).await? {
            let held: Vec<i64> = self
                .db
                .fetch_all(
                    query(
                        "select distinct m.account_id from batches b
                     join messages m on m.bucket = b.bucket and m.message_id = b.message_id
                     where b.bucket = $1 and b.carrier = $2 and b.claimed_by = $3",
                    )
                    .bind(bucket.0)
                    .bind(&carrier)
                    .bind(QueueState::Held.stored()),
                )
                .await?;
            accounts.extend(held.into_iter().map(AccountId));
        }
        accounts.sort_unstable();
        accounts.dedup();
        Ok(accounts)
    }

    /// Moves all batches of an account from waiting to held, or back, in steps.
    async fn move_all(
        self,
        bucket: Bucket,
        account: AccountId,
        from: QueueState,
        to: QueueState,
    ) -> Result<()> {
        for carrier in self.carriers(bucket).await? {
            for &priority in &Priority::ALL {
                let mut behind = Some((i64::MIN, i64::MIN));
                while let Some(after) = behind {
                    let place = (bucket, &*carrier, from, priority);
                    let (batches, next) = self.step_of(place, account, after).await?;
                    if !batches.is_empty() {
                        let change = Move {
                            batches,
                            to,
                            account,
                        };
                        self.db.change(change).await?;
                    }
                    behind = next;
                }
            }
        }
        Ok(())
    }

    /// Returns the account's batches among the next ones along the key, and the start of the next
    /// step.
    async fn step_of(
        self,
        (bucket, carrier, state, priority): (Bucket, &str, QueueState, Priority),
        account: AccountId,
        after: (i64, i64),
    ) -> Result<(Vec<Batch>, Option<(i64, i64)>)> {
        let sql = select_batches!(
            "where b.bucket = $1 and b.carrier = $2 and b.claimed_by = $3
                 and b.priority = $4 and (b.due_at_ms, b.batch_id) > ($5, $6)
             order by b.due_at_ms, b.batch_id limit $7"
        );
        let rows: Vec<BatchRow> = self
            .db
            .fetch_all(
                query(sql)
                    .bind(bucket.0)
                    .bind(carrier)
                    .bind(state.stored())
                    .bind(priority.rank())
                    .bind(after.0)
                    .bind(after.1)
                    .bind(STEP),
            )
            .await?;
        let is_full = i64::try_from(rows.len()).unwrap_or(i64::MAX) >= STEP;
        let last = rows.last().map(|row| (row.due_at_ms, row.batch_id));
        // The sandbox sends nothing, and pending accounts may use it.
        let is_meant = |row: &BatchRow| row.account_id == account.0 && !row.sandbox;
        let mut batches = Vec::new();
        for row in rows.into_iter().filter(is_meant) {
            let Claimed { batch, .. } = row.claimed()?;
            batches.push(batch);
        }
        Ok((batches, last.filter(|_| is_full)))
    }

    /// Cancels all held batches of an account, some recipients at a time.
    async fn cancel(self, bucket: Bucket, account: AccountId, now_ms: i64) -> Result<Settled> {
        let mut settled = Settled::default();
        for carrier in self.carriers(bucket).await? {
            loop {
                let cancel = Cancel {
                    buckets: Buckets::of(self.db),
                    bucket,
                    carrier: carrier.clone(),
                    account,
                    now_ms,
                };
                let (some, more) = self.db.change(cancel).await?;
                settled.join(some);
                if !more {
                    break;
                }
            }
        }
        Ok(settled)
    }

    async fn carriers(self, bucket: Bucket) -> Result<Vec<String>> {
        Queues { db: self.db }.carriers(bucket).await
    }
}
