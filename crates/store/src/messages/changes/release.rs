//! The batches of a message when its clock runs again or gets another start.

use crate::batches::batch::{Batch, Claimed, QueueState};
use crate::batches::batch_rows::{insert, take};
use database::{Result, Tx};

/// Lets the batches of a paused message wait for claims again. Their times move by the length of the
/// pause, and none is due before `earliest_ms`.
pub(super) async fn release(
    tx: &mut Tx,
    paused: Vec<Claimed>,
    moved_ms: i64,
    earliest_ms: i64,
) -> Result<()> {
    let is_moved = |one: &Claimed| moved_ms != 0 || one.batch.state == QueueState::Paused;
    let paused = paused.into_iter().filter(is_moved).collect();
    replace(tx, paused, |batch| Batch {
        state: match batch.state {
            QueueState::Held => QueueState::Held,
            _ => QueueState::Waiting,
        },
        due_at_ms: batch.due_at_ms.saturating_add(moved_ms).max(earliest_ms),
        expires_at_ms: batch.expires_at_ms.saturating_add(moved_ms),
        ..batch
    })
    .await
}

/// Replaces batches that are still in their state.
pub(super) async fn replace(
    tx: &mut Tx,
    batches: Vec<Claimed>,
    change: impl Fn(Batch) -> Batch,
) -> Result<()> {
    let batches: Vec<Batch> = batches.into_iter().map(|one| one.batch).collect();
    let taken = take(tx, &batches.iter().collect::<Vec<_>>()).await?;
    let batches = batches.into_iter();
    let kept = batches.filter(|batch| taken.contains(&batch.id));
    let changed: Vec<Batch> = kept.map(change).collect();
    insert(tx, &changed.iter().collect::<Vec<_>>()).await
}
