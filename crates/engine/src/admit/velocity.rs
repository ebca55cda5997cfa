//! Who sends too much to one number, or to one block of numbers. Each node counts its own sends, in memory; what is
//! paused is paused on all nodes, and stays so when they start again.

use crate::context::clock::Clock;
use crate::context::metrics;
use crate::context::read_at_last;
use crate::error::Error;
use crate::error::within;
use database::Outage;
use domain::velocity::{Block, Velocity as Counts, VelocityLimits, VelocityVerdict, paused};
use domain::{AccountId, Fingerprint, Recipient, Refusal};
use parking_lot::{Mutex, MutexGuard, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::{By, PausedBlock, Revision, Store};
use tokio::sync::watch;
use tokio::time::timeout;

/// How often pauses are read that nobody has changed.
const READ_INTERVAL: Duration = Duration::from_mins(1);
/// Pauses of blocks, tried by each send over the limit.
static PAUSES: Outage = Outage::of("blocks of numbers cannot be paused");

/// The recent sends, and the paused blocks.
pub(crate) struct Velocity {
    limits: RwLock<VelocityLimits>,
    counts: Mutex<Counts>,
    store: Store,
    clock: Clock,
    /// This node, as the audit names it.
    actor: Arc<str>,
}

/// The count of a send. It is taken back where this is dropped: it goes with the send through its commit, so
/// that nothing stays counted that does not stand, whether it was refused or its client has gone.
pub(crate) struct Counted {
    velocity: Arc<Velocity>,
    account: AccountId,
    recipients: Vec<Recipient>,
}

impl Counted {
    /// Leaves it counted: the send is accepted.
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
    /// `None` where an operator has limited nothing: then nothing is counted, and no pause holds.
    pub(crate) async fn load(
        store: &Store,
        limits: VelocityLimits,
        clock: &Clock,
        node: i64,
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

    /// Counts a live send, or refuses it. A send that was accepted before, and is asked for again, is no more than was allowed,
    /// and refused as what it is.
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
            VelocityVerdict::Goes => Ok(Counted {
                velocity: Arc::clone(self),
                account,
                recipients: recipients.to_vec(),
            }),
            // Boxed, and the pause as well, as sends that go would have room for it too.
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

    /// Returns `true` if it was accepted just before. Where the database does not tell in time, it is taken for new.
    async fn is_repeat(&self, account: AccountId, fingerprint: Fingerprint, now_ms: i64) -> bool {
        let asked = self.store.is_repeat(account, fingerprint, now_ms);
        within(async { Ok(asked.await?) }).await.unwrap_or(false)
    }

    /// Pauses a block for an account; gives the refusal.
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
        // Durable first: the revision then tells all nodes of it, this one too.
        if is_new(self.store.pause_block(pause, by)).await {
            metrics::block_paused();
            tracing::warn!(
                account.id = account.0,
                block = %block,
                "an account sends much to one block of numbers: it is paused, see `ogene velocity list`"
            );
        }
        paused(block, pause.until_ms, now_ms)
    }

    /// Warns of an account that sends much to one number, once in an hour.
    fn log_once(&self, account: AccountId, refusal: &Refusal) {
        let Refusal::RecipientTooOften { block, .. } = refusal else {
            return;
        };
        if self.counts().report_once(account) {
            tracing::warn!(
                account.id = account.0,
                block = %block,
                "an account sends much to one number of a block: what is too much is refused until the hour is over"
            );
        }
    }

    /// Reads what is paused whenever something about accounts has changed, and now and then, since time ends pauses
    /// too. Ends when nobody tells of changes any more.
    pub(crate) async fn follow(self: Arc<Self>, mut revision: watch::Receiver<Revision>) {
        while !matches!(timeout(READ_INTERVAL, revision.changed()).await, Ok(Err(_))) {
            read_at_last("the paused blocks cannot be read", || self.read()).await;
        }
    }

    async fn read(&self) -> database::Result<()> {
        let paused = self.store.paused_blocks(self.clock.now_ms()).await?;
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

    /// Puts other limits in the place of those that hold; what was counted stays.
    pub(crate) fn limit(&self, limits: VelocityLimits) {
        *self.limits.write() = limits;
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock()
    }
}

/// Returns `true` if a pause that is made is there and was not before. One that the database does not take in time is made by the
/// next send over the limit; the send that is over it now is refused all the same, and need not wait for longer.
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
