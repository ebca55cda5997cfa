//! Turns at committing what carriers said.
//!
//! A commit costs much the same for one response and for a hundred. With many carriers that each commit whenever they
//! have news there would be one for nearly every message; so those that find no turn free wait for one, in order, and
//! what comes meanwhile goes with theirs.

use std::future::pending;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reports of carriers that are committed at a time: one is told what became of it while another is kept.
const AT_A_TIME: usize = 2;

/// A turn, until it is dropped.
pub(crate) type Turn = OwnedSemaphorePermit;

/// The turns of all carriers of a process.
#[derive(Clone, Debug)]
pub(crate) struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_A_TIME)))
    }
}

impl Turns {
    /// A turn now, where one is free and nobody waits for it.
    pub(super) fn now(&self) -> Option<Turn> {
        Arc::clone(&self.0).try_acquire_owned().ok()
    }

    /// The next turn after those of all who wait.
    pub(super) async fn next(&self) -> Turn {
        match Arc::clone(&self.0).acquire_owned().await {
            Ok(turn) => turn,
            // Nobody closes them.
            Err(_) => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    type Waiting<'a> = Pin<Box<dyn Future<Output = Turn> + 'a>>;

    fn come(waiting: &mut Waiting<'_>) -> Option<Turn> {
        match waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn whoever_waits_longest_has_the_next_turn() {
        let turns = Turns::default();
        let mut taken: Vec<Turn> = std::iter::from_fn(|| turns.now()).collect();
        assert_eq!(taken.len(), AT_A_TIME);
        let mut first: Waiting<'_> = Box::pin(turns.next());
        let mut second: Waiting<'_> = Box::pin(turns.next());
        assert!(come(&mut first).is_none() && come(&mut second).is_none());
        taken.pop();
        assert!(turns.now().is_none(), "it is the first's");
        assert!(come(&mut second).is_none());
        let turn = come(&mut first);
        assert!(turn.is_some());
        drop(turn);
        assert!(come(&mut second).is_some());
    }
}
