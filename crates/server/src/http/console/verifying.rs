//! The verification that operators start in the console. It runs in the background of this node,
//! and one runs at a time.

use engine::operators::{Checked, Configuration, VerifyProgress};
use parking_lot::Mutex;
use std::sync::Arc;

/// The state of the last verification of this node.
#[derive(Clone, Default)]
pub(crate) enum State {
    /// None was started since the node did.
    #[default]
    None,
    /// It runs.
    Running {
        /// The start, Unix milliseconds.
        since_ms: i64,
        /// The part that is done.
        progress: Arc<VerifyProgress>,
    },
    /// It has ended, or it failed with the database.
    Ended {
        /// The start, Unix milliseconds.
        since_ms: i64,
        /// The report, or `None` after a failure.
        report: Option<Arc<Checked>>,
    },
}

/// The verification of this node.
#[derive(Clone, Default)]
pub(crate) struct Verifying(Arc<Mutex<State>>);

impl Verifying {
    /// Returns the state.
    pub(crate) fn state(&self) -> State {
        self.0.lock().clone()
    }

    /// Starts a verification, unless one runs.
    pub(crate) fn start(&self, books: Configuration, since_ms: i64) {
        let progress = Arc::new(VerifyProgress::default());
        {
            let mut state = self.0.lock();
            if matches!(*state, State::Running { .. }) {
                return;
            }
            let progress = Arc::clone(&progress);
            *state = State::Running { since_ms, progress };
        }
        let state = Arc::clone(&self.0);
        tokio::spawn(async move {
            let report = books.verify_with(&progress).await;
            if let Err(error) = &report {
                tracing::warn!(%error, "verification: not completed, the database failed");
            }
            let report = report.ok().map(Arc::new);
            *state.lock() = State::Ended { since_ms, report };
        });
    }
}
