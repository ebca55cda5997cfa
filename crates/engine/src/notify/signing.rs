//! The signing secrets of callbacks, cached in memory and reloaded when they change.

use crate::context::retry_read;
use domain::AccountId;
use domain::callback::signature::Signing;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use store::{Revision, Store};
use tokio::sync::watch;

type ByAccount = HashMap<AccountId, Arc<[Signing]>>;

/// The cached secrets by account.
pub(crate) struct Secrets(RwLock<ByAccount>);

impl Secrets {
    pub(crate) async fn load(store: &Store) -> database::Result<Self> {
        Ok(Self(RwLock::new(read(store).await?)))
    }

    /// Returns the secrets of an account, including ended ones, or `None` if its callbacks are not
    /// signed.
    pub(crate) fn of(&self, account: AccountId) -> Option<Arc<[Signing]>> {
        let known = self.0.read();
        known.get(&account).cloned()
    }

    /// Reloads the secrets at each new revision, and keeps the old ones until a read succeeds. Ends
    /// when the sender of revisions is dropped.
    pub(crate) async fn follow(&self, store: &Store, mut revision: watch::Receiver<Revision>) {
        while revision.changed().await.is_ok() {
            let found = retry_read("the secrets of callbacks cannot be read", || read(store)).await;
            *self.0.write() = found;
        }
    }
}

async fn read(store: &Store) -> database::Result<ByAccount> {
    let mut found: HashMap<AccountId, Vec<Signing>> = HashMap::new();
    for secret in store.callback_secrets().all().await? {
        found
            .entry(secret.account)
            .or_default()
            .push(secret.signing);
    }
    let signings = found.into_iter();
    Ok(signings
        .map(|(account, signings)| (account, signings.into()))
        .collect())
}
