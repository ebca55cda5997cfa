//! Takeover of batches that a removed node had claimed.

use crate::context::Context;
use crate::context::metrics;
use crate::context::plan::SANDBOX;
use crate::settle::commit::{commit_alone, report_of};
use database::Outage;
use domain::BatchId;
use std::sync::Arc;
use std::time::Duration;
use store::{Batch, BatchKind, Claimed, Progress, QueueState};
use tokio::time::sleep;

/// Delay before a failed search is repeated.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of batches and recipients in one report, which bounds the time of its commit.
const MAX_BATCHES: usize = 200;
const MAX_RECIPIENTS: usize = 4_000;

/// Recovers the claims of the previous process on SQLite. On PostgreSQL the first heartbeat
/// requests it, because a search before the heartbeat would delay it.
pub(crate) async fn at_start(context: &Arc<Context>) -> database::Result<()> {
    if context.store.is_shared() {
        return Ok(());
    }
    recover(context).await
}

/// Recovers claims at each request of `Nodes::look_for_orphans`, and repeats a failed search. It
/// runs until the engine ends. No other task waits for it.
pub(crate) async fn run(context: Arc<Context>) {
    let outage = Outage::of("claims of removed nodes cannot be recovered");
    loop {
        context.nodes.orphan_search_requested().await;
        while outage.note(recover(&context).await).is_none() {
            sleep(PAUSE).await;
        }
    }
}

/// Recovers the claims of removed nodes in the buckets of this node, for all carriers in the
/// database. The recipients may have been submitted, so they become in doubt. Callbacks are
/// released.
async fn recover(context: &Arc<Context>) -> database::Result<()> {
    let now_ms = context.clock.now_ms();
    let (mut doubted, mut freed) = (0, 0);
    for bucket in context.my_buckets() {
        for carrier in context.store.queues().carriers(bucket).await? {
            let orphans = context.store.queues().orphans(&carrier, bucket).await?;
            if carrier == SANDBOX {
                put_back(context, orphans, now_ms).await?;
            } else {
                doubted += take_over(context, orphans, now_ms).await?;
            }
        }
        freed += context.store.outbox().free(bucket, now_ms).await?;
    }
    if doubted > 0 || freed > 0 {
        tracing::warn!(
            recipients = doubted,
            callbacks = freed,
            "recovery: claims of a removed process taken over, its recipients are in doubt"
        );
    }
    Ok(())
}

/// Releases orphans of the sandbox. The sandbox has no network, so none of its recipients is in
/// doubt.
async fn put_back(
    context: &Arc<Context>,
    orphans: Vec<Claimed>,
    now_ms: i64,
) -> database::Result<()> {
    if orphans.is_empty() {
        return Ok(());
    }
    let batches = orphans.into_iter().map(|orphan| orphan.batch).collect();
    context
        .store
        .claims()
        .release(batches, now_ms, None, now_ms)
        .await
}

/// Marks the recipients of orphaned batches as in doubt. Returns their number.
async fn take_over(
    context: &Arc<Context>,
    orphans: Vec<Claimed>,
    now_ms: i64,
) -> database::Result<usize> {
    let mut doubted = 0;
    for orphans in chunks(orphans) {
        let progress = orphans
            .into_iter()
            .map(|orphan| doubt(context, orphan, now_ms))
            .collect();
        let report = report_of(context, progress, now_ms);
        for progress in &report.progress {
            metrics::doubted(&progress.batch.carrier, progress.doubted.len());
            doubted += progress.doubted.len();
        }
        commit_alone(context, report).await?;
    }
    Ok(doubted)
}

/// Splits batches into reports of bounded size. A single batch is never too large.
pub(crate) fn chunks(batches: Vec<Claimed>) -> impl Iterator<Item = Vec<Claimed>> {
    chunks_by(batches, |claimed| claimed.batch.recipients.len())
}

fn chunks_by<T>(batches: Vec<T>, recipients: impl Fn(&T) -> usize) -> impl Iterator<Item = Vec<T>> {
    let mut left = batches.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut chunk: Vec<T> = Vec::new();
        let mut sum = 0;
        while let Some(next) = left.next_if(|next| {
            let more = sum + recipients(next);
            chunk.is_empty() || (chunk.len() < MAX_BATCHES && more <= MAX_RECIPIENTS)
        }) {
            sum += recipients(&next);
            chunk.push(next);
        }
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn doubt(context: &Context, claimed: Claimed, now_ms: i64) -> Progress {
    let (batch, gateway) = (&claimed.batch, claimed.content.gateway);
    let live = context.live();
    let resend = live.plan.resend_at(gateway, batch, now_ms);
    let resend = resend.map(|due_at_ms| Batch {
        state: QueueState::Waiting,
        claimed_until_ms: 0,
        due_at_ms,
        id: BatchId(live.plan.numbers(1)),
        kind: BatchKind::Resend,
        tries: 0,
        ..batch.clone()
    });
    let awaited = batch.recipients.iter().copied();
    let second_leg = live.plan.second_leg_timer(batch, gateway, awaited, now_ms);
    Progress {
        doubted: batch.recipients.clone(),
        again: resend.into_iter().chain(second_leg).collect(),
        ..Progress::of(claimed)
    }
}

#[cfg(test)]
mod tests {
    use super::chunks_by;

    #[test]
    fn batches_are_reported_together_up_to_the_bound_of_a_commit() {
        let chunks = |sizes: &[usize]| -> Vec<usize> {
            let chunks = chunks_by(sizes.to_vec(), |&size| size);
            chunks.map(|one| one.len()).collect()
        };
        assert!(chunks(&[]).is_empty());
        assert_eq!(chunks(&[1; 450]), [200, 200, 50]);
        assert_eq!(chunks(&[500; 20]), [8, 8, 4]);
        assert_eq!(chunks(&[5_000, 1, 4_000]), [1, 1, 1]);
    }
}
