//! Shares the time of the database between accept commits and settle commits. Both stages record
//! their commits here, and neither knows the other.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Maximum number of responses in a settle commit, and of receipts. The bound is the same, so that
/// receipts keep up with submits under load.
pub(crate) const MAX_OUTCOMES: usize = 4_000;
/// The same bound while small sends arrive. A settle commit delays the accept commit behind it, and
/// one of this size takes some milliseconds.
pub(crate) const MIN_OUTCOMES: usize = 400;
/// Maximum number of batches in a claim while small sends arrive.
const MIN_CLAIMED: usize = 100;
/// Outcomes in a settle commit for each small send of the last accept commit. With a lower ratio,
/// settling falls behind accepting.
const OUTCOMES_PER_SEND: usize = 2;
/// Time after a small send in which another is likely, milliseconds.
const URGENT_MS: u64 = 1_000;

/// The load of both stages, as far as the other one needs it.
pub(crate) struct CommitShare {
    /// The time of the last commit with small sends, and their number.
    urgent_at_ms: AtomicI64,
    urgent: AtomicUsize,
    /// Number of settle commits that run or wait.
    settling: AtomicUsize,
    /// Notified at the end of each settle commit.
    settled: Notify,
}

impl Default for CommitShare {
    fn default() -> Self {
        Self {
            urgent_at_ms: AtomicI64::new(i64::MIN),
            urgent: AtomicUsize::default(),
            settling: AtomicUsize::default(),
            settled: Notify::new(),
        }
    }
}

/// Counts as a settle commit until it is dropped.
pub(crate) struct SettleCommit(Arc<CommitShare>);

impl CommitShare {
    /// Records that small sends are about to be committed.
    pub(crate) fn note_urgent(&self, now_ms: i64, sends: usize) {
        self.urgent_at_ms.store(now_ms, Ordering::Relaxed);
        self.urgent.store(sends, Ordering::Relaxed);
    }

    /// Returns `true` if small sends are likely, as some were committed within a second.
    pub(crate) fn is_urgent(&self, now_ms: i64) -> bool {
        now_ms.abs_diff(self.urgent_at_ms.load(Ordering::Relaxed)) < URGENT_MS
    }

    /// Returns the bound of responses, and of receipts, for a settle commit that begins now.
    pub(crate) fn max_outcomes(&self, now_ms: i64) -> usize {
        if self.is_urgent(now_ms) {
            let sends = self.urgent.load(Ordering::Relaxed);
            (OUTCOMES_PER_SEND * sends).clamp(MIN_OUTCOMES, MAX_OUTCOMES)
        } else {
            MAX_OUTCOMES
        }
    }

    /// Returns the bound of batches for a claim that begins now. A claim moves each of its rows, and
    /// shares a commit with outcomes and receipts.
    pub(crate) fn max_claimed(&self, now_ms: i64) -> usize {
        if self.is_urgent(now_ms) {
            MIN_CLAIMED
        } else {
            MAX_OUTCOMES
        }
    }

    /// Records that a settle commit waits or runs.
    pub(crate) fn begin_settle(self: &Arc<Self>) -> SettleCommit {
        self.settling.fetch_add(1, Ordering::Relaxed);
        SettleCommit(Arc::clone(self))
    }

    /// Waits for the end of one settle commit, if any runs.
    pub(crate) async fn wait_for_settle(&self) {
        let mut settled = pin!(self.settled.notified());
        // A commit that ends after this line is not missed.
        settled.as_mut().enable();
        if self.settling.load(Ordering::Relaxed) > 0 {
            settled.await;
        }
    }
}

impl Drop for SettleCommit {
    fn drop(&mut self) {
        self.0.settling.fetch_sub(1, Ordering::Relaxed);
        self.0.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Context, Waker};

    #[test]
    fn settle_commits_are_short_for_a_second_after_a_small_send() {
        let share = CommitShare::default();
        assert_eq!(share.max_outcomes(0), MAX_OUTCOMES);
        share.note_urgent(5_000, 1);
        for (now_ms, max) in [
            (5_000, MIN_OUTCOMES),
            (5_999, MIN_OUTCOMES),
            (6_000, MAX_OUTCOMES),
            (1_000, MAX_OUTCOMES),
        ] {
            assert_eq!(share.max_outcomes(now_ms), max, "at {now_ms}");
        }
    }

    #[test]
    fn claims_are_short_for_a_second_after_a_small_send() {
        let share = CommitShare::default();
        assert_eq!(share.max_claimed(0), MAX_OUTCOMES);
        share.note_urgent(5_000, 1);
        assert_eq!(share.max_claimed(5_999), MIN_CLAIMED);
        assert_eq!(share.max_claimed(6_000), MAX_OUTCOMES);
    }

    #[test]
    fn outcomes_of_a_commit_grow_with_accepted_sends() {
        let share = CommitShare::default();
        for (sends, max) in [
            (MIN_OUTCOMES / 2, MIN_OUTCOMES),
            (MIN_OUTCOMES, 2 * MIN_OUTCOMES),
            (MAX_OUTCOMES, MAX_OUTCOMES),
        ] {
            share.note_urgent(0, sends);
            assert_eq!(share.max_outcomes(0), max, "after {sends} sends");
        }
    }

    #[test]
    fn an_accept_waits_for_one_settle_commit() {
        let share = Arc::new(CommitShare::default());
        let waker = &mut Context::from_waker(Waker::noop());
        assert!(
            pin!(share.wait_for_settle())
                .as_mut()
                .poll(waker)
                .is_ready()
        );
        let (first, _second) = (share.begin_settle(), share.begin_settle());
        let mut wait = pin!(share.wait_for_settle());
        assert!(wait.as_mut().poll(waker).is_pending());
        drop(first);
        assert!(wait.as_mut().poll(waker).is_ready());
    }
}
