//! What a node that is gone had in hand.

use crate::plan::SANDBOX;
use crate::{Shared, measure};
use std::sync::Arc;
use store::{Batch, BatchKind, Claimed, Progress, WAITING};

/// Finds the batches of nodes that are gone, in the buckets that are this node's matter. What such a node had
/// claimed may have been sent: it is in doubt, which is told, counted, and ended by a receipt or by one more
/// send. What it had not claimed was not sent.
pub(crate) async fn recover(shared: &Arc<Shared>) -> store::Result<()> {
    let now_ms = shared.clock.now_ms();
    let (mut doubted, mut freed) = (0, 0);
    for bucket in shared.my_buckets() {
        for carrier in &shared.carriers {
            for orphan in shared.store.orphans(&carrier.name, bucket).await? {
                doubted += take_over(shared, orphan, now_ms).await?;
            }
        }
        freed += shared.store.free_callbacks(bucket, now_ms).await?;
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

/// Gives how many recipients are in doubt now.
async fn take_over(shared: &Arc<Shared>, orphan: Claimed, now_ms: i64) -> store::Result<usize> {
    if &*orphan.batch.carrier == SANDBOX {
        shared
            .store
            .release(vec![orphan.batch], now_ms, None, now_ms)
            .await?;
        return Ok(0);
    }
    let doubted = orphan.batch.recipients.len();
    measure::doubted(&orphan.batch.carrier, doubted);
    let report = shared.report(doubt(shared, orphan, now_ms), now_ms);
    shared.keep(report).await?;
    Ok(doubted)
}

fn doubt(shared: &Shared, claimed: Claimed, now_ms: i64) -> Progress {
    let (batch, gateway) = (&claimed.batch, claimed.content.gateway);
    let resend = shared.plan.resend_at(gateway, batch, now_ms);
    let resend = resend.map(|due_at_ms| Batch {
        claimed_by: WAITING,
        claimed_until_ms: 0,
        due_at_ms,
        id: shared.plan.numbers(1),
        kind: BatchKind::Resend,
        tries: 0,
        ..batch.clone()
    });
    let awaited = batch.recipients.iter().copied();
    let second_leg = shared
        .plan
        .second_leg_timer(batch, gateway, awaited, now_ms);
    Progress {
        doubted: batch.recipients.clone(),
        again: resend.into_iter().chain(second_leg).collect(),
        ..Progress::of(claimed)
    }
}
