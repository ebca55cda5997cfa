//! The end of a cancel.

use super::facts::{self, Facts};
use super::stops::{self, Stop, UnsentBatches};
use super::windows;
use crate::rows::id_bytes;
use database::{Change, Result, Tx, query};
use domain::schedule::Clock;
use domain::{Bucket, MessageId};

/// The end of a cancel: the recipients that carriers have go on, and the duplicate window opens again
/// if there are none.
pub(super) struct FinishCancel {
    pub(super) bucket: Bucket,
    pub(super) message: MessageId,
    pub(super) now_ms: i64,
}

impl Change for FinishCancel {
    /// `true` if the cancel is finished.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(facts) = facts::lock(tx, self.bucket, self.message).await? else {
            stops::remove(tx, self.bucket, self.message).await?;
            return Ok(true);
        };
        let stop = stops::lock(tx, self.bucket, self.message).await?;
        let Some(stop) = stop.filter(|stop| stop.cancels) else {
            return Ok(true);
        };
        let found = UnsentBatches::lock(tx, self.bucket, self.message).await?;
        if found.is_in_memory() {
            return Ok(false);
        }
        if !found.unclaimed()?.is_empty() {
            return Ok(false);
        }
        let clock = self.clock(&facts, &stop);
        let moved_ms = clock.due_at_ms - facts.clock.due_at_ms;
        tx.execute(
            query(
                "update messages set paused_at_ms = null, cancelled_at_ms = $3,
                     due_at_ms = case when $4 > 0 then $5 else due_at_ms end,
                     paused_for_ms = case when $4 > 0 then $6 else paused_for_ms end
                 where bucket = $1 and message_id = $2",
            )
            .bind(self.bucket.0)
            .bind(id_bytes(&self.message))
            .bind(self.now_ms)
            .bind(moved_ms)
            .bind(clock.due_at_ms)
            .bind(facts.paused_for_ms + moved_ms),
        )
        .await?;
        stops::remove(tx, self.bucket, self.message).await?;
        let progress = facts.changed(tx, self.bucket).await?.progress;
        if progress.cancelled >= progress.recipients {
            windows::reopen(tx, self.bucket, self.message, self.now_ms).await?;
        }
        Ok(true)
    }
}

impl FinishCancel {
    /// Returns the clock after the cancel. The time of the cancel itself is no pause.
    fn clock(&self, facts: &Facts, stop: &Stop) -> Clock {
        if facts.clock.paused_at_ms == Some(stop.requested_at_ms) {
            return Clock::new(facts.clock.due_at_ms);
        }
        facts.clock.resume(self.now_ms, None).clock
    }
}
