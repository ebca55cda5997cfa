//! What a process that died had in hand.

use crate::Shared;
use crate::plan::SANDBOX;
use std::sync::Arc;
use store::{Batch, BatchKind, Claimed, Progress, WAITING};

/// Finds the batches of a process that died. What it had claimed may have been sent: it is in doubt, which is
/// told, counted, and ended by a receipt or by one more send. What it had not claimed was not sent.
pub(crate) async fn recover(shared: &Arc<Shared>) -> store::Result<()> {
    let now_ms = shared.clock.now_ms();
    let carriers: Vec<Arc<str>> = shared
        .carriers
        .iter()
        .map(|carrier| Arc::clone(&carrier.name))
        .collect();
    let left = shared
        .store
        .claimed_by_others(&carriers, shared.node)
        .await?;
    let mut doubted = 0;
    for claimed in left {
        if &*claimed.batch.carrier == SANDBOX {
            shared
                .store
                .release(vec![claimed.batch], now_ms, None)
                .await?;
            continue;
        }
        doubted += claimed.batch.recipients.len();
        let report = shared.report(doubt(shared, claimed, now_ms), now_ms);
        let (settled, _) = shared.store.report(Arc::new(report)).await?;
        shared.settled(settled);
    }
    let freed = shared.store.free_callbacks(shared.node, now_ms).await?;
    if doubted > 0 || freed > 0 {
        tracing::warn!(
            recipients = doubted,
            callbacks = freed,
            "the last process left recipients in doubt and callbacks in hand"
        );
    }
    Ok(())
}

fn doubt(shared: &Shared, claimed: Claimed, now_ms: i64) -> Progress {
    let Claimed { batch, content } = claimed;
    let resend = shared.plan.resend_at(content.gateway, &batch, now_ms);
    let resend = resend.map(|due_at_ms| Batch {
        claimed_by: WAITING,
        claimed_until_ms: 0,
        due_at_ms,
        id: shared.plan.numbers(1),
        kind: BatchKind::Resend,
        tries: 0,
        ..batch.clone()
    });
    Progress {
        doubted: batch.recipients.clone(),
        again: resend.into_iter().collect(),
        ..Progress::of(batch)
    }
}
