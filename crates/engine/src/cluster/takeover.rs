//! The takeover of batches that a node which is gone had claimed.

use crate::context::Context;
use crate::context::metrics;
use crate::context::plan::SANDBOX;
use crate::settle::commit::{commit_alone, report_of};
use database::Outage;
use std::sync::Arc;
use std::time::Duration;
use store::{Batch, BatchKind, Claimed, Progress, WAITING};
use tokio::time::sleep;

/// The pause before what failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Most batches that are told of together, and most recipients in them: a commit costs much the same for one and
/// for many, but its time is limited too.
const MAX_BATCHES: usize = 200;
const MAX_RECIPIENTS: usize = 4_000;

/// Recovers what the last process left, where there is one at a time. Other nodes would wait for the beat of this one
/// meanwhile, and its first beat asks for the same.
pub(crate) async fn at_start(context: &Arc<Context>) -> database::Result<()> {
    if context.store.is_shared() {
        return Ok(());
    }
    recover(context).await
}

/// Recovers whenever `Nodes::look_for_orphans` asks for it, as often as it takes, until the engine ends. However long that
/// is, nothing waits for it: the beat least of all.
pub(crate) async fn run(context: Arc<Context>) {
    let outage = Outage::of("what nodes that are gone had in hand was not all found");
    loop {
        context.nodes.orphans_wanted().await;
        while outage.note(recover(&context).await).is_none() {
            sleep(PAUSE).await;
        }
    }
}

/// Finds the batches of nodes that are gone, in the buckets that are this node's matter, also those of carriers
/// that are not configured any more. The batches of such a node may have been sent: it is in doubt, which is
/// told, counted, and ended by a receipt or by one more send. The batches that it had not claimed were not sent.
async fn recover(context: &Arc<Context>) -> database::Result<()> {
    let now_ms = context.clock.now_ms();
    let (mut doubted, mut freed) = (0, 0);
    for bucket in context.my_buckets() {
        for carrier in context.store.batch_carriers(bucket).await? {
            let orphans = context.store.orphans(&carrier, bucket).await?;
            if carrier == SANDBOX {
                put_back(context, orphans, now_ms).await?;
            } else {
                doubted += take_over(context, orphans, now_ms).await?;
            }
        }
        freed += context.store.free_callbacks(bucket, now_ms).await?;
    }
    if doubted > 0 || freed > 0 {
        tracing::warn!(
            recipients = doubted,
            callbacks = freed,
            "a process that is gone left recipients in doubt and callbacks in hand"
        );
    }
    Ok(())
}

/// The sandbox has no wire to be on.
async fn put_back(
    context: &Arc<Context>,
    orphans: Vec<Claimed>,
    now_ms: i64,
) -> database::Result<()> {
    if orphans.is_empty() {
        return Ok(());
    }
    let batches = orphans.into_iter().map(|orphan| orphan.batch).collect();
    context.store.release(batches, now_ms, None, now_ms).await
}

/// Gives how many recipients are in doubt now.
async fn take_over(
    context: &Arc<Context>,
    orphans: Vec<Claimed>,
    now_ms: i64,
) -> database::Result<usize> {
    let mut doubted = 0;
    for orphans in portions(orphans) {
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

/// As many batches at a time as go into one report; one is never too many.
pub(crate) fn portions(batches: Vec<Claimed>) -> impl Iterator<Item = Vec<Claimed>> {
    portions_by(batches, |claimed| claimed.batch.recipients.len())
}

fn portions_by<T>(
    batches: Vec<T>,
    recipients: impl Fn(&T) -> usize,
) -> impl Iterator<Item = Vec<T>> {
    let mut left = batches.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut portion: Vec<T> = Vec::new();
        let mut sum = 0;
        while let Some(next) = left.next_if(|next| {
            let more = sum + recipients(next);
            portion.is_empty() || (portion.len() < MAX_BATCHES && more <= MAX_RECIPIENTS)
        }) {
            sum += recipients(&next);
            portion.push(next);
        }
        (!portion.is_empty()).then_some(portion)
    })
}

fn doubt(context: &Context, claimed: Claimed, now_ms: i64) -> Progress {
    let (batch, gateway) = (&claimed.batch, claimed.content.gateway);
    let live = context.live();
    let resend = live.plan.resend_at(gateway, batch, now_ms);
    let resend = resend.map(|due_at_ms| Batch {
        claimed_by: WAITING,
        claimed_until_ms: 0,
        due_at_ms,
        id: live.plan.numbers(1),
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
    use super::portions_by;

    #[test]
    fn batches_are_reported_together_up_to_the_bound_of_a_commit() {
        let portions = |sizes: &[usize]| -> Vec<usize> {
            let portions = portions_by(sizes.to_vec(), |&size| size);
            portions.map(|one| one.len()).collect()
        };
        assert!(portions(&[]).is_empty());
        assert_eq!(portions(&[1; 450]), [200, 200, 50]);
        assert_eq!(portions(&[500; 20]), [8, 8, 4]);
        assert_eq!(portions(&[5_000, 1, 4_000]), [1, 1, 1]);
    }
}
