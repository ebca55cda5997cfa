//! Looking after what waits: what has become due, and what has to go to another carrier.

use super::Carrier;
use super::desk::Desk;
use super::done::Done;
use crate::Shared;
use domain::Priority;
use std::sync::Arc;
use store::Claimed;

/// How long a carrier may be down before what waits for it goes to the next one.
const FAIL_OVER_MS: i64 = 5_000;
/// How long what has no other carrier waits until that is looked at again.
const NO_OTHER_MS: i64 = 10_000;
/// Batches looked at for another carrier at a time, in recipients.
const FAIL_OVER_RECIPIENTS: usize = 1_000;

impl Desk {
    /// Looks whether something has become due, or has to go elsewhere.
    pub(super) fn look(&mut self) {
        if self.busy.looking || self.closing {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        self.busy.looking = true;
        let (shared, carrier, done) = (
            Arc::clone(&self.shared),
            Arc::clone(&self.carrier),
            self.done.clone(),
        );
        if carrier.is_up() {
            tokio::spawn(async move {
                let next = shared.store.next_due(&carrier.name).await;
                let due = next.is_ok_and(|next| next.is_some_and(|due_ms| due_ms <= now_ms));
                let _ = done.send(Done::Looked { due });
            });
        } else if self.is_to_fail_over() {
            // What is in hand and was not sent goes back first, and is moved the next time.
            self.put_back_unsent();
            tokio::spawn(async move {
                fail_over(&shared, &carrier, now_ms).await;
                let _ = done.send(Done::FailedOver);
            });
        } else {
            self.busy.looking = false;
        }
    }
}

impl Desk {
    /// Only a node that has connections to lose can tell that a carrier is down, and only if none has any.
    fn is_to_fail_over(&self) -> bool {
        let judges = self.carrier.settings.is_some() && !self.carrier.slots.borrow().is_empty();
        judges
            && !self.carrier.is_up_anywhere()
            && self.shared.clock.steady_ms() - self.down_since_ms >= FAIL_OVER_MS
            && self.shared.has_alternative(&self.carrier)
    }
}

/// Moves what waits for a carrier that is down to one that is up, in order of preference.
async fn fail_over(shared: &Arc<Shared>, carrier: &Arc<Carrier>, now_ms: i64) {
    let claim = shared.claim(carrier, FAIL_OVER_RECIPIENTS, Priority::Bulk, now_ms);
    let claimed = match shared.store.claim(claim).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::error!(%error, "batches could not be moved to another carrier");
            return;
        }
    };
    for Claimed { batch, content } in claimed {
        let Some(&first) = batch.recipients.first() else {
            continue;
        };
        let others = shared
            .plan
            .other_carriers(content.gateway, batch.leg, first, &carrier.name);
        let other = others.into_iter().find(|name| {
            shared
                .carrier(name)
                .is_some_and(|other| other.is_up_anywhere())
        });
        let due_ms = if other.is_some() {
            now_ms
        } else {
            now_ms + NO_OTHER_MS
        };
        shared.release(vec![batch], due_ms, other);
    }
}
