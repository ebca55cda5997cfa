//! The secrets that callbacks are signed with, as the database has them: read whenever something about accounts has
//! changed, so that an attempt does not have to ask for them.

use crate::context::retry_read;
use domain::AccountId;
use domain::callback::signature::Signing;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use store::{Revision, Store};
use tokio::sync::watch;

type ByAccount = HashMap<AccountId, Arc<[Signing]>>;

/// The known secrets.
pub(crate) struct Secrets(RwLock<ByAccount>);

impl Secrets {
    pub(crate) async fn load(store: &Store) -> database::Result<Self> {
        Ok(Self(RwLock::new(read(store).await?)))
    }

    /// The secrets of an account, also ended ones; `None` for one whose callbacks are not signed.
    pub(crate) fn of(&self, account: AccountId) -> Option<Arc<[Signing]>> {
        let known = self.0.read();
        known.get(&account).cloned()
    }

    /// Reads them again whenever the revision changes; until a reading succeeds, those of before sign. Ends when
    /// nobody tells of changes any more.
    pub(crate) async fn follow(&self, store: &Store, mut revision: watch::Receiver<Revision>) {
        while revision.changed().await.is_ok() {
            let found = retry_read("the secrets of callbacks cannot be read", || read(store)).await;
            *self.0.write() = found;
        }
    }
}

async fn read(store: &Store) -> database::Result<ByAccount> {
    let mut found: HashMap<AccountId, Vec<Signing>> = HashMap::new();
    for secret in store.all_callback_secrets().await? {
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
