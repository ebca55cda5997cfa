//! Work that operators start in the console, such as a verification. It runs in the background of
//! this node, and one of each kind runs at a time.

use engine::operators::{Checked, MonthRevenue, SumProgress, VerifyProgress};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The state of the last work of a kind on this node.
pub(crate) enum State<P, R> {
    /// None was started since the node did.
    None,
    /// It runs.
    Running {
        /// The start, Unix milliseconds.
        since_ms: i64,
        /// The part that is done.
        progress: Arc<P>,
    },
    /// It has ended, or it failed with the database.
    Ended {
        /// The start, Unix milliseconds.
        since_ms: i64,
        /// The result, or `None` after a failure.
        result: Option<Arc<R>>,
    },
}

impl<P, R> Clone for State<P, R> {
    fn clone(&self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Running { since_ms, progress } => Self::Running {
                since_ms: *since_ms,
                progress: Arc::clone(progress),
            },
            Self::Ended { since_ms, result } => Self::Ended {
                since_ms: *since_ms,
                result: result.clone(),
            },
        }
    }
}

/// One kind of work on this node.
pub(crate) struct Background<P, R>(Arc<watch::Sender<State<P, R>>>);

/// The verification.
pub(crate) type Verifying = Background<VerifyProgress, Checked>;
/// The addition of the revenue.
pub(crate) type Counting = Background<SumProgress, Vec<MonthRevenue>>;

impl<P, R> Default for Background<P, R> {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(State::None)))
    }
}

impl<P, R> Background<P, R>
where
    P: Default + Send + Sync + 'static,
    R: Send + Sync + 'static,
{
    /// Returns the state.
    pub(crate) fn state(&self) -> State<P, R> {
        self.0.borrow().clone()
    }

    /// Returns the state once nothing runs, or as it is after a time.
    pub(crate) async fn ended_within(&self, time: Duration) -> State<P, R> {
        let mut states = self.0.subscribe();
        let ended = states.wait_for(|state| !matches!(state, State::Running { .. }));
        // After the time, or at the end of the process, the state is as it is.
        let _ = timeout(time, ended).await;
        self.state()
    }

    /// Starts the work, unless it runs. It returns `None` after a failure.
    pub(crate) fn start<F>(&self, since_ms: i64, work: impl FnOnce(Arc<P>) -> F)
    where
        F: Future<Output = Option<R>> + Send + 'static,
    {
        let progress = Arc::new(P::default());
        let is_new = self.0.send_if_modified(|state| {
            if matches!(state, State::Running { .. }) {
                return false;
            }
            let progress = Arc::clone(&progress);
            *state = State::Running { since_ms, progress };
            true
        });
        if !is_new {
            return;
        }
        let (state, work) = (Arc::clone(&self.0), work(progress));
        tokio::spawn(async move {
            let result = work.await.map(Arc::new);
            state.send_replace(State::Ended { since_ms, result });
        });
    }
}
