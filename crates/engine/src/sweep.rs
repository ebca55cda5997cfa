//! What time does, looked after in the background.

use crate::{Shared, measure};
use std::sync::Arc;
use std::time::Duration;
use store::{CarrierReport, Ended, Expiry, Progress};

/// How often recipients are looked for whose time is over.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);
/// A delivery may be committed this long after its message's time was over.
const GRACE_MS: i64 = 60_000;
/// How often closed windows are forgotten.
const TIDY_EVERY: Duration = Duration::from_secs(5);
/// How often queues are measured.
const MEASURE_EVERY: Duration = Duration::from_secs(5);

/// Runs until the engine ends.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut expire = tokio::time::interval(EXPIRE_EVERY);
    let mut tidy = tokio::time::interval(TIDY_EVERY);
    let mut measure = tokio::time::interval(MEASURE_EVERY);
    loop {
        let swept = tokio::select! {
            _ = expire.tick() => expire_all(&shared).await,
            _ = tidy.tick() => tidy_all(&shared).await,
            _ = measure.tick() => measure_all(&shared).await,
        };
        if let Err(error) = swept {
            tracing::error!(%error, "a sweep failed; it comes again");
        }
    }
}

/// Expires recipients that have no outcome in time, and what was never sent.
pub(crate) async fn expire_all(shared: &Arc<Shared>) -> store::Result<()> {
    let now_ms = shared.clock.now_ms();
    for rules in &shared.plan.rules.gateways {
        let expiry = Expiry {
            gateway: rules.gateway,
            timeout_ms: rules.receipt_timeout_ms + GRACE_MS,
            now_ms,
            planner: shared.planner(now_ms),
        };
        loop {
            let (settled, more) = shared.store.expire(&expiry).await?;
            shared.settled(settled);
            if !more {
                break;
            }
        }
    }
    expire_unsent(shared, now_ms).await
}

async fn expire_unsent(shared: &Arc<Shared>, now_ms: i64) -> store::Result<()> {
    loop {
        let late = shared.store.late_batches(now_ms).await?;
        if late.is_empty() {
            return Ok(());
        }
        for claimed in late {
            let ended = claimed.batch.recipients.iter().map(|&recipient| Ended {
                recipient,
                status: domain::DeliveryStatus::Expired,
                error: "validity passed".to_owned(),
            });
            let progress = Progress {
                ended: ended.collect(),
                ..Progress::of(claimed.batch)
            };
            let report = shared.report(progress, now_ms);
            let (settled, _) = shared.store.report(Arc::new(report)).await?;
            shared.settled(settled);
        }
    }
}

async fn tidy_all(shared: &Arc<Shared>) -> store::Result<()> {
    while shared.store.tidy(shared.clock.now_ms()).await? {}
    while shared.store.is_shared() && shared.store.tidy_rates(shared.clock.now_ms()).await? {}
    Ok(())
}

async fn measure_all(shared: &Arc<Shared>) -> store::Result<()> {
    let queues = shared.store.queue_depths().await?;
    let callbacks = shared.store.callback_counts().await?;
    measure::depths(&queues, &callbacks);
    Ok(())
}

impl Shared {
    /// A report of one batch, outside its carrier's task.
    pub(crate) fn report(self: &Arc<Self>, progress: Progress, now_ms: i64) -> CarrierReport {
        CarrierReport {
            carrier: Arc::clone(&progress.batch.carrier),
            now_ms,
            progress: vec![progress],
            receipts: Vec::new(),
            planner: self.planner(now_ms),
            node: self.node,
            claimed_until_ms: now_ms,
            callback_room: 0,
            first_number: 0,
        }
    }
}
