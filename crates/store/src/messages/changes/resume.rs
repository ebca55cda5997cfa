//! The end of a pause, and another due time.

use super::facts::{self, ChangedMessage, Facts, MessageKey};
use super::release::{release, replace};
use super::request::{belongs, entry};
use super::stops::{self, UnsentBatches};
use crate::batches::batch::Batch;
use crate::operators::audit::{self, By};
use crate::rows::id_bytes;
use database::{Change, Result, Tx, query};
use domain::schedule::{self, Effect, Resumed};
use domain::{Bucket, QuietHours, Refusal};
use serde_json::json;

const BEING_CANCELLED: Refusal =
    Refusal::TooLate("This message is being cancelled: it cannot be changed any more.");
const HANDED_OVER: Refusal = Refusal::TooLate(
    "A carrier is getting this message already: its time cannot be changed any more. Recipients that no carrier has can \
     be paused or cancelled.",
);

/// The result of a resume or a new due time.
pub(super) type Moved = Option<std::result::Result<ChangedMessage, Refusal>>;

/// The end of a pause.
pub(super) struct Resume {
    pub(super) bucket: Bucket,
    pub(super) key: MessageKey,
    pub(super) now_ms: i64,
    pub(super) quiet: Option<QuietHours>,
    pub(super) by: Option<By>,
}

impl Change for Resume {
    type Output = Moved;

    async fn apply(&self, tx: &mut Tx) -> Result<Moved> {
        let (bucket, message) = (self.bucket, self.key.message);
        let asked = (schedule::Change::Resume, self.now_ms);
        let facts = match allowed(tx, bucket, self.key, asked).await? {
            Some(Ok((facts, _, Effect::Applies))) => facts,
            Some(Ok((_, changed, Effect::Nothing))) => return Ok(Some(Ok(changed))),
            Some(Err(refusal)) => return Ok(Some(Err(refusal))),
            None => return Ok(None),
        };
        let Resumed { clock, next_at_ms } = facts.clock.resume(self.now_ms, self.quiet);
        let moved_ms = clock.due_at_ms - facts.clock.due_at_ms;
        let batches = UnsentBatches::lock(tx, bucket, message).await?;
        release(tx, batches.unclaimed()?, moved_ms, next_at_ms).await?;
        let after = Facts {
            clock,
            paused_for_ms: facts.paused_for_ms + moved_ms,
            changes: Some(facts.with_change("resumed", self.now_ms)),
            ..facts
        };
        write(tx, bucket, &after, moved_ms != 0).await?;
        stops::remove(tx, bucket, message).await?;
        if let Some(by) = &self.by {
            let object = message.to_string();
            let state = |is_paused: bool| json!({ "paused": is_paused });
            let both = (state(true), state(false));
            audit::enter(tx, entry(by, "message.resume", self.key, &object, both)).await?;
        }
        Ok(Some(Ok(after.changed(tx, bucket).await?)))
    }
}

/// Another due time of a message that no carrier has.
pub(super) struct Reschedule {
    pub(super) bucket: Bucket,
    pub(super) key: MessageKey,
    pub(super) due_at_ms: i64,
    pub(super) now_ms: i64,
    pub(super) by: Option<By>,
}

impl Change for Reschedule {
    type Output = Moved;

    async fn apply(&self, tx: &mut Tx) -> Result<Moved> {
        let (bucket, message) = (self.bucket, self.key.message);
        let asked = (schedule::Change::Reschedule, self.now_ms);
        let (facts, changed) = match allowed(tx, bucket, self.key, asked).await? {
            Some(Ok((facts, changed, _))) => (facts, changed),
            Some(Err(refusal)) => return Ok(Some(Err(refusal))),
            None => return Ok(None),
        };
        let batches = UnsentBatches::lock(tx, bucket, message).await?;
        // A claimed recipient may be on the wire.
        if batches.is_claimed() {
            return Ok(Some(Err(HANDED_OVER)));
        }
        let moved_ms = self.due_at_ms - facts.clock.due_at_ms;
        let moved = batches.unclaimed()?;
        replace(tx, moved, |batch| Batch {
            due_at_ms: self.due_at_ms,
            expires_at_ms: batch.expires_at_ms.saturating_add(moved_ms),
            ..batch
        })
        .await?;
        let after = Facts {
            clock: schedule::Clock {
                due_at_ms: self.due_at_ms,
                ..facts.clock
            },
            paused_for_ms: 0,
            ..facts
        };
        write(tx, bucket, &after, true).await?;
        if let Some(by) = &self.by {
            let object = message.to_string();
            let due = |at_ms: i64| json!({ "due_at_ms": at_ms });
            let both = (due(changed.progress.due_at_ms), due(self.due_at_ms));
            audit::enter(tx, entry(by, "message.reschedule", self.key, &object, both)).await?;
        }
        Ok(Some(Ok(after.changed(tx, bucket).await?)))
    }
}

/// The facts of a message with the counts of its recipients, and the effect of a change on it.
type Allowed = (Facts, ChangedMessage, Effect);

/// Locks a message of an account, and decides on a change of it. A message that is being cancelled
/// is refused.
async fn allowed(
    tx: &mut Tx,
    bucket: Bucket,
    key: MessageKey,
    (asked, now_ms): (schedule::Change, i64),
) -> Result<Option<std::result::Result<Allowed, Refusal>>> {
    if !belongs(tx, bucket, key).await? {
        return Ok(None);
    }
    let Some(facts) = facts::lock(tx, bucket, key.message).await? else {
        return Ok(None);
    };
    let stop = stops::lock(tx, bucket, key.message).await?;
    if stop.is_some_and(|stop| stop.cancels) {
        return Ok(Some(Err(BEING_CANCELLED)));
    }
    let changed = facts.changed(tx, bucket).await?;
    let effect = schedule::change(&changed.progress, asked, now_ms);
    Ok(Some(effect.map(|effect| (facts, changed, effect))))
}

/// Writes the clock and the changes of a message. Its due time is written if it was moved.
async fn write(tx: &mut Tx, bucket: Bucket, facts: &Facts, is_moved: bool) -> Result<()> {
    tx.execute(
        query(
            "update messages set paused_at_ms = $3, changes = $4, paused_for_ms = $5,
                 due_at_ms = case when $6 then $7 else due_at_ms end
             where bucket = $1 and message_id = $2",
        )
        .bind(bucket.0)
        .bind(id_bytes(&facts.message))
        .bind(facts.clock.paused_at_ms)
        .bind(facts.changes.clone())
        .bind((facts.paused_for_ms != 0).then_some(facts.paused_for_ms))
        .bind(is_moved)
        .bind(facts.clock.due_at_ms),
    )
    .await?;
    Ok(())
}
