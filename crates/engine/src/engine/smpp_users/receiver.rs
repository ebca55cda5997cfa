//! The receipts of a bound SMPP user: claims and outcomes, for one connection that receives.

use crate::admit::bound_users::Bound;
use crate::engine::stages::Stages;
use crate::error::Error;
use database::Outage;
use std::sync::Arc;
use std::time::Duration;
use store::{AttemptOutcome, Callback, Finished, OriginKey};
use tokio::sync::watch;
use tokio::time::sleep;

/// Duration of a claim, milliseconds. It is longer than a client may take for its answer.
const CLAIM_MS: i64 = 180_000;
/// Delay before a failed commit of outcomes is repeated.
const FAILURE_PAUSE: Duration = Duration::from_secs(1);
/// Longest time for which a response that the client does not read holds back receipts, milliseconds.
const MAX_HELD_BACK_MS: i64 = 10_000;
/// Outage of the commits of outcomes, over all connections.
static COMMITS: Outage = Outage::of("outcomes of receipts by SMPP are not committed yet");

/// The receipts of a user, for one connection.
#[derive(Clone)]
pub struct SmppReceiver {
    stages: Arc<Stages>,
    bound: Arc<Bound>,
    of: OriginKey,
    hints: watch::Receiver<()>,
}

/// Claimed receipts that nobody has taken yet. They are released if nobody does.
pub struct HeldReceipts {
    receiver: SmppReceiver,
    receipts: Vec<Callback>,
}

impl SmppReceiver {
    /// Returns the receiver of a user, or `None` if the user may not be bound any more.
    pub(super) fn new(stages: &Arc<Stages>, bound: &Arc<Bound>) -> Option<Self> {
        let current = bound.current()?;
        Some(Self {
            of: stages.context.store.outbox().of_user(&current.user),
            hints: stages.context.receipts.of(bound.system_id()),
            bound: Arc::clone(bound),
            stages: Arc::clone(stages),
        })
    }

    /// Waits for a hint that receipts wait.
    pub async fn hinted(&mut self) {
        if self.hints.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Claims due receipts. A receipt of a submit whose response is not written yet stays.
    pub async fn claim(&self, limit: usize) -> Result<HeldReceipts, Error> {
        // The claim goes on when its caller leaves, so that it is released.
        let receiver = self.clone();
        let claiming = tokio::spawn(async move { receiver.claim_now(limit).await });
        claiming.await.unwrap_or_else(|_| Ok(self.held(Vec::new())))
    }

    async fn claim_now(self, limit: usize) -> Result<HeldReceipts, Error> {
        let context = &self.stages.context;
        let now_ms = context.clock.now_ms();
        let earliest_ms = now_ms - MAX_HELD_BACK_MS;
        let due_ms = self.bound.oldest_submit_ms().unwrap_or(now_ms);
        let due_ms = due_ms.clamp(earliest_ms, now_ms);
        let (outbox, until_ms) = (context.store.outbox(), now_ms + CLAIM_MS);
        let claim = outbox.claim_in_order(self.of.clone(), due_ms, limit, context.node, until_ms);
        Ok(self.held(claim.await?))
    }

    fn held(&self, receipts: Vec<Callback>) -> HeldReceipts {
        HeldReceipts {
            receiver: self.clone(),
            receipts,
        }
    }

    /// Commits outcomes. It repeats a failed commit, also when its caller leaves.
    pub async fn finish(&self, outcomes: Vec<AttemptOutcome>) {
        if outcomes.is_empty() {
            return;
        }
        let context = Arc::clone(&self.stages.context);
        let committing = tokio::spawn(async move {
            let commit = || {
                context
                    .store
                    .outbox()
                    .finish(context.node, outcomes.clone())
            };
            while COMMITS.note(commit().await).is_none() {
                sleep(FAILURE_PAUSE).await;
            }
        });
        // A panic leaves the claim, which ends by itself.
        let _ = committing.await;
    }
}

impl HeldReceipts {
    /// Takes the receipts. The caller gives each an outcome.
    pub fn take(mut self) -> Vec<Callback> {
        std::mem::take(&mut self.receipts)
    }
}

impl Drop for HeldReceipts {
    fn drop(&mut self) {
        let receipts = std::mem::take(&mut self.receipts);
        if receipts.is_empty() {
            return;
        }
        let untouched = receipts.into_iter();
        let untouched = untouched.map(|one| AttemptOutcome::new(one, Finished::Untouched));
        let (receiver, untouched) = (self.receiver.clone(), untouched.collect());
        tokio::spawn(async move { receiver.finish(untouched).await });
    }
}
