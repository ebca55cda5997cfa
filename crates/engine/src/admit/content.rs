//! Prohibited phrases: those of the configuration and those that an operator edits at run time.

use crate::context::retry_read;
use domain::Prohibited;
use parking_lot::RwLock;
use std::sync::Arc;
use store::{Revision, Store};
use tokio::sync::watch;

/// The prohibited phrases of this process.
pub(crate) struct Content {
    configured: RwLock<Prohibited>,
    all: RwLock<Arc<Prohibited>>,
}

impl Content {
    pub(crate) async fn load(store: &Store, configured: Prohibited) -> database::Result<Arc<Self>> {
        let content = Self {
            configured: RwLock::new(configured),
            all: RwLock::default(),
        };
        content.read(store).await?;
        Ok(Arc::new(content))
    }

    /// Returns the phrases of both sources.
    pub(crate) fn prohibited(&self) -> Arc<Prohibited> {
        Arc::clone(&self.all.read())
    }

    /// Returns the phrases of the configuration.
    pub(crate) fn configured(&self) -> Prohibited {
        self.configured.read().clone()
    }

    /// Reloads the phrases at each new revision, and keeps the old ones until a read succeeds. Ends
    /// when the sender of revisions is dropped.
    pub(crate) async fn follow(
        self: Arc<Self>,
        store: Store,
        mut revision: watch::Receiver<Revision>,
    ) {
        while revision.changed().await.is_ok() {
            retry_read("the content rules cannot be read", || self.read(&store)).await;
        }
    }

    /// Replaces the phrases of the configuration. The old ones stay if the database cannot be read.
    pub(crate) async fn configure(
        &self,
        store: &Store,
        configured: Prohibited,
    ) -> database::Result<()> {
        let before = {
            let mut held = self.configured.write();
            std::mem::replace(&mut *held, configured)
        };
        let read = self.read(store).await;
        if read.is_err() {
            *self.configured.write() = before;
        }
        read
    }

    async fn read(&self, store: &Store) -> database::Result<()> {
        let rules = store.content_rules().all().await?;
        let phrases: Vec<String> = rules.into_iter().map(|rule| rule.phrase).collect();
        let configured = self.configured.read();
        let all = Arc::new(configured.with(&phrases));
        *self.all.write() = all;
        Ok(())
    }
}
