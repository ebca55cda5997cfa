//! Accounts that may not send: what a node has in hand of them and has not handed over goes back, and what comes to be held
//! is settled as its operator has said.

use crate::Shared;
use crate::shared::read_at_last;
use domain::{AccountId, Environment};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use store::{Content, Revision};
use tokio::sync::watch;

/// The accounts that may not send, as this node knows them. Only a hint: what may be claimed is decided in the database.
#[derive(Default)]
pub(crate) struct Holds {
    any: AtomicBool,
    accounts: RwLock<HashSet<AccountId>>,
}

impl Holds {
    /// Whether what this says is not to go out.
    pub(crate) fn contain(&self, content: &Content) -> bool {
        if !self.any.load(Ordering::Relaxed) || content.environment == Environment::Sandbox {
            return false;
        }
        let accounts = self.accounts.read().unwrap_or_else(PoisonError::into_inner);
        accounts.contains(&content.account)
    }

    /// Notes them; whether one is new.
    fn set(&self, accounts: HashSet<AccountId>) -> bool {
        let mut held = self
            .accounts
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let is_new = accounts.iter().any(|account| !held.contains(account));
        self.any.store(!accounts.is_empty(), Ordering::Relaxed);
        *held = accounts;
        is_new
    }
}

/// Reads them at the start and whenever the revision changes, and has what is in hand looked through. Runs until the
/// engine ends.
pub(super) async fn follow(shared: Arc<Shared>, mut revision: watch::Receiver<Revision>) {
    loop {
        let held = read_at_last("held accounts cannot be read", || shared.store.holds()).await;
        if shared.holds.set(held.into_keys().collect()) {
            let live = shared.live();
            live.carriers.iter().for_each(|carrier| carrier.withhold());
        }
        if revision.changed().await.is_err() {
            return;
        }
    }
}

/// Settles what came to be held since an operator held it: it was in hand then, or is a second leg, or goes out again.
pub(super) async fn settle(shared: &Arc<Shared>) -> store::Result<()> {
    for bucket in shared.my_buckets() {
        let now_ms = shared.clock.now_ms();
        let settled = shared.store.settle_held(bucket, now_ms).await?;
        shared.settled(settled);
    }
    Ok(())
}
