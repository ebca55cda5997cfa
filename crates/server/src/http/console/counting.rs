//! The addition of the revenue, which operators start in the console. It runs in the background of
//! this node, and one runs at a time.

use engine::operators::{MonthRevenue, Revenues, SumProgress};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The state of the last addition of this node.
#[derive(Clone, Default)]
pub(crate) enum State {
    /// None was started since the node did.
    #[default]
    None,
    /// It runs.
    Running {
        /// The part that is done.
        progress: Arc<SumProgress>,
    },
    /// It has ended, or it failed with the database.
    Ended {
        /// The start, Unix milliseconds.
        since_ms: i64,
        /// The months, oldest first, or `None` after a failure.
        months: Option<Arc<Vec<MonthRevenue>>>,
    },
}

/// The addition of this node.
#[derive(Clone, Default)]
pub(crate) struct Counting(Arc<watch::Sender<State>>);

impl Counting {
    /// Returns the state.
    pub(crate) fn state(&self) -> State {
        self.0.borrow().clone()
    }

    /// Returns the state once no addition runs, or as it is after a time.
    pub(crate) async fn ended_within(&self, time: Duration) -> State {
        let mut states = self.0.subscribe();
        let ended = states.wait_for(|state| !matches!(state, State::Running { .. }));
        // After the time, or at the end of the process, the state is as it is.
        let _ = timeout(time, ended).await;
        self.state()
    }

    /// Starts an addition, unless one runs.
    pub(crate) fn start(&self, revenues: Revenues, months: u8, since_ms: i64) {
        let progress = Arc::new(SumProgress::default());
        let is_new = self.0.send_if_modified(|state| {
            if matches!(state, State::Running { .. }) {
                return false;
            }
            let progress = Arc::clone(&progress);
            *state = State::Running { progress };
            true
        });
        if !is_new {
            return;
        }
        let state = Arc::clone(&self.0);
        tokio::spawn(async move {
            let counted = revenues.count(months, &progress).await;
            if let Err(error) = &counted {
                tracing::warn!(%error, "revenue: not added up, the database failed");
            }
            let months = counted.ok().map(Arc::new);
            state.send_replace(State::Ended { since_ms, months });
        });
    }
}
