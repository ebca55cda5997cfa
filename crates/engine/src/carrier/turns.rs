//! Turns at committing what carriers said.
//!
//! A commit costs much the same for one response and for a hundred. With many carriers that each commit whenever they
//! have news there would be one for nearly every message; so those that find no turn free wait for one, in order, and
//! what comes meanwhile goes with theirs.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reports of carriers that are committed at a time: one is told what became of it while another is kept.
const AT_A_TIME: usize = 2;
/// Responses committed in a turn, but for those to one batch, and receipts: as many, so that who is sent to does not
/// outrun who is heard of when there is more to commit than time.
const MANY: usize = 4_000;
/// As many while there are sends to a few, which wait for the commit before theirs: some milliseconds, where campaigns
/// alone have more of the machine with longer ones.
const FEW: usize = 400;
/// But so many for each send that was committed with the last, or they would be heard of more slowly than they are
/// accepted where hundreds come at a time and there is no processor left.
const FOR_EACH: usize = 2;
/// How long after a send to a few another is likely.
const HURRY_MS: u64 = 1_000;

/// A turn, until it is dropped.
pub(crate) type Turn = OwnedSemaphorePermit;

/// The turns of all carriers of a process.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    free: Arc<Semaphore>,
    /// When the last sends to a few came, and how many together.
    hurried_at_ms: Arc<AtomicI64>,
    hurried: Arc<AtomicUsize>,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            free: Arc::new(Semaphore::new(AT_A_TIME)),
            hurried_at_ms: Arc::new(AtomicI64::new(i64::MIN)),
            hurried: Arc::default(),
        }
    }
}

impl Turns {
    /// So many sends to a few are about to be committed together.
    pub(crate) fn hurry(&self, now_ms: i64, sends: usize) {
        self.hurried_at_ms.store(now_ms, Ordering::Relaxed);
        self.hurried.store(sends, Ordering::Relaxed);
    }

    /// Responses, and receipts, that are committed in a turn that begins now.
    pub(super) fn most(&self, now_ms: i64) -> usize {
        let since = now_ms.abs_diff(self.hurried_at_ms.load(Ordering::Relaxed));
        if since < HURRY_MS {
            let sends = self.hurried.load(Ordering::Relaxed);
            (FOR_EACH * sends).clamp(FEW, MANY)
        } else {
            MANY
        }
    }

    /// A turn now, where one is free and nobody waits for it.
    pub(super) fn now(&self) -> Option<Turn> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    /// The next turn after those of all who wait.
    pub(super) async fn next(&self) -> Turn {
        match Arc::clone(&self.free).acquire_owned().await {
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
    fn turns_are_short_for_a_second_after_a_send_to_a_few_whatever_the_clock_does() {
        let turns = Turns::default();
        assert_eq!(turns.most(0), MANY);
        turns.hurry(5_000, 1);
        for (now_ms, most) in [(5_000, FEW), (5_999, FEW), (6_000, MANY), (1_000, MANY)] {
            assert_eq!(turns.most(now_ms), most, "at {now_ms}");
        }
    }

    #[test]
    fn as_much_is_heard_of_in_a_turn_as_is_accepted_together() {
        let turns = Turns::default();
        for (sends, most) in [(FEW / 2, FEW), (FEW, 2 * FEW), (MANY, MANY)] {
            turns.hurry(0, sends);
            assert_eq!(turns.most(0), most, "of {sends} sends");
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
