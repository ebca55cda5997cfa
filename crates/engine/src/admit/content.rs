//! The phrases that no text may hold: the phrases of the configuration, and those that an operator edits while the service runs.

use crate::context::read_at_last;
use domain::Prohibited;
use parking_lot::RwLock;
use std::sync::Arc;
use store::{Revision, Store};
use tokio::sync::watch;

/// The known state.
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

    /// All phrases, as they are now.
    pub(crate) fn prohibited(&self) -> Arc<Prohibited> {
        Arc::clone(&self.all.read())
    }

    /// Reads them again whenever the revision changes; until a reading succeeds, those of before hold. Ends when
    /// nobody tells of changes any more.
    pub(crate) async fn follow(
        self: Arc<Self>,
        store: Store,
        mut revision: watch::Receiver<Revision>,
    ) {
        while revision.changed().await.is_ok() {
            read_at_last("the content rules cannot be read", || self.read(&store)).await;
        }
    }

    /// Puts other phrases of the configuration in the place of those that hold.
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
        let rules = store.content_rules().await?;
        let phrases: Vec<String> = rules.into_iter().map(|rule| rule.phrase).collect();
        let configured = self.configured.read();
        let all = Arc::new(configured.with(&phrases));
        *self.all.write() = all;
        Ok(())
    }
}
