//! Velocity limits: the number of messages of an account to one number or block of numbers. Each
//! node counts its own sends in memory. A paused block is stored in the database, so it is paused
//! on all nodes and after a restart.

use crate::context::clock::Clock;
use crate::context::metrics;
use crate::context::retry_read;
use crate::error::Error;
use crate::error::within;
use database::Outage;
use domain::velocity::{Block, Velocity as Counts, VelocityLimits, VelocityVerdict, paused};
use domain::{AccountId, Fingerprint, NodeId, Recipient, Refusal};
use parking_lot::{Mutex, MutexGuard, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::{By, PausedBlock, Revision, Store};
use tokio::sync::watch;
use tokio::time::timeout;

/// Period of the reads of the paused blocks while no revision changes.
const READ_INTERVAL: Duration = Duration::from_mins(1);
/// Outage of the pauses, which every send over the limit tries again.
static PAUSES: Outage = Outage::of("blocks of numbers cannot be paused");

/// Recent sends and paused blocks.
pub(crate) struct Velocity {
    limits: RwLock<VelocityLimits>,
    counts: Mutex<Counts>,
    store: Store,
    clock: Clock,
    /// The name of this node in the audit list.
    actor: Arc<str>,
}

/// The counted recipients of one send. Dropping this takes them back, so a refused or abandoned
/// send does not stay counted.
pub(crate) struct Counted {
    velocity: Arc<Velocity>,
    account: AccountId,
    recipients: Vec<Recipient>,
}

impl Counted {
    /// Makes the count permanent, because the send is accepted.
    pub(crate) fn keep(mut self) {
        self.recipients.clear();
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.velocity.counts();
        counts.take_back(self.account, &self.recipients);
    }
}

impl Velocity {
    /// Loads the paused blocks. Returns `None` if no limit is configured, and then stored pauses
    /// have no effect.
    pub(crate) async fn load(
        store: &Store,
        limits: VelocityLimits,
        clock: &Clock,
        node: NodeId,
    ) -> database::Result<Option<Arc<Self>>> {
        if !limits.are_set() {
            return Ok(None);
        }
        let velocity = Self {
            limits: RwLock::new(limits),
            counts: Mutex::default(),
            store: store.clone(),
            clock: clock.clone(),
            actor: format!("node:{node}").into(),
        };
        velocity.read().await?;
        Ok(Some(Arc::new(velocity)))
    }

    /// Counts a live send, or refuses it. A send over the limit that repeats an accepted one is
    /// refused as a duplicate.
    pub(crate) async fn check(
        self: &Arc<Self>,
        account: AccountId,
        recipients: &[Recipient],
        fingerprint: Fingerprint,
    ) -> Result<Counted, Error> {
        let now_ms = self.clock.now_ms();
        let limits = self.limits();
        let verdict = self.counts().judge(account, recipients, &limits, now_ms);
        match verdict {
            VelocityVerdict::Allowed => Ok(Counted {
                velocity: Arc::clone(self),
                account,
                recipients: recipients.to_vec(),
            }),
            // Both futures are boxed, or every send that is within the limit would pay for their
            // size.
            VelocityVerdict::Refused(_) | VelocityVerdict::Pause(_)
                if Box::pin(self.is_repeat(account, fingerprint, now_ms)).await =>
            {
                Err(Refusal::Duplicate.into())
            }
            VelocityVerdict::Refused(refusal) => {
                self.log_once(account, &refusal);
                Err(refusal.into())
            }
            VelocityVerdict::Pause(block) => {
                let refusal = Box::pin(self.pause(account, block, now_ms)).await;
                Err(refusal.into())
            }
        }
    }

    /// Refuses a send that would be over a limit. Nothing is counted, paused or logged.
    pub(crate) fn would_allow(
        &self,
        account: AccountId,
        recipients: &[Recipient],
    ) -> Result<(), Refusal> {
        let now_ms = self.clock.now_ms();
        let limits = self.limits();
        match self.counts().check(account, recipients, &limits, now_ms) {
            VelocityVerdict::Allowed => Ok(()),
            VelocityVerdict::Refused(refusal) => Err(refusal),
            VelocityVerdict::Pause(block) => {
                let until_ms = now_ms.saturating_add(limits.pause_ms);
                Err(paused(block, until_ms, now_ms))
            }
        }
    }

    /// Returns `true` if an equal send was accepted lately. If the database does not answer in
    /// time, the send counts as new.
    async fn is_repeat(&self, account: AccountId, fingerprint: Fingerprint, now_ms: i64) -> bool {
        let asked = self
            .store
            .messages()
            .is_repeat(account, fingerprint, now_ms);
        within(async { Ok(asked.await?) }).await.unwrap_or(false)
    }

    /// Pauses a block for an account. Returns the refusal.
    async fn pause(&self, account: AccountId, block: Block, now_ms: i64) -> Refusal {
        let pause = PausedBlock {
            account,
            block,
            paused_at_ms: now_ms,
            until_ms: now_ms.saturating_add(self.limits().pause_ms),
        };
        let by = By {
            actor: Arc::clone(&self.actor),
            at_ms: now_ms,
        };
        // The pause is stored before the answer. The new revision then makes all nodes read it.
        if is_new(self.store.paused_blocks().pause(pause, by)).await {
            metrics::block_paused();
            tracing::warn!(
                account.id = account.0,
                block = %block,
                "block of numbers: paused for an account over its velocity limit, see `ogene velocity list`"
            );
        }
        paused(block, pause.until_ms, now_ms)
    }

    /// Logs that an account is over the limit of one number, once an hour.
    fn log_once(&self, account: AccountId, refusal: &Refusal) {
        let Refusal::RecipientTooOften { block, .. } = refusal else {
            return;
        };
        if self.counts().report_once(account) {
            tracing::warn!(
                account.id = account.0,
                block = %block,
                "number: sends refused until the hour ends, an account is over its velocity limit"
            );
        }
    }

    /// Reads the paused blocks at each new revision, and every minute, since pauses also expire.
    /// Ends when the sender of revisions is dropped.
    pub(crate) async fn follow(self: Arc<Self>, mut revision: watch::Receiver<Revision>) {
        while !matches!(timeout(READ_INTERVAL, revision.changed()).await, Ok(Err(_))) {
            retry_read("the paused blocks cannot be read", || self.read()).await;
        }
    }

    async fn read(&self) -> database::Result<()> {
        let paused = self.store.paused_blocks().all(self.clock.now_ms()).await?;
        metrics::blocks_paused(paused.len());
        let paused: HashMap<_, _> = paused
            .iter()
            .map(|paused| ((paused.account, paused.block), paused.until_ms))
            .collect();
        self.counts().set_paused(paused);
        Ok(())
    }

    fn limits(&self) -> VelocityLimits {
        *self.limits.read()
    }

    /// Replaces the limits. Counted sends stay counted.
    pub(crate) fn limit(&self, limits: VelocityLimits) {
        *self.limits.write() = limits;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock()
    }
}

/// Returns `true` if the pause was stored and the block was not paused before. If the database does
/// not answer in time, the next send over the limit tries again. The current send is refused in any
/// case and does not wait for longer.
async fn is_new(pause: impl Future<Output = database::Result<bool>>) -> bool {
    let made = within(async { Ok(pause.await?) }).await;
    if made.is_ok() {
        PAUSES.worked();
    }
    made.unwrap_or_else(|error| {
        PAUSES.failed(&error);
        false
    })
}

#[cfg(test)]
pub(crate) mod tests;
