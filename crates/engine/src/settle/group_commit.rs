//! Group commit: one commit settles the reports of many carriers.
//!
//! The cost of a commit hardly depends on the number of responses and carriers in it. So one report
//! commits at a time. The task that holds the permit also commits the reports that other carriers
//! queued meanwhile. A commit slower than [`SLOW_COMMIT_TIMEOUT`] gives up its permit.

use crate::context::commit_share::{CommitShare, SettleCommit};
use crate::dispatch::report::WorkerReport;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time after which a commit gives up its permit. So a commit that waits for a locked row delays no
/// other.
const SLOW_COMMIT_TIMEOUT: Duration = Duration::from_millis(500);

/// The permit to commit, until it is dropped.
pub(crate) struct CommitPermit {
    _permit: OwnedSemaphorePermit,
    _commit: SettleCommit,
    slow: Arc<Semaphore>,
}

/// The group commit of all carriers of a process.
pub(crate) struct GroupCommit {
    share: Arc<CommitShare>,
    /// The one permit to commit.
    permit: Arc<Semaphore>,
    /// Allows one slow commit beside the one with the permit.
    slow: Arc<Semaphore>,
    waiting: Mutex<VecDeque<WorkerReport>>,
}

impl CommitPermit {
    /// Runs the commit that the permit was taken for. A slow commit gives the permit up, unless
    /// another slow one runs.
    pub(crate) async fn during<T>(self, commit: impl Future<Output = T>) -> T {
        let mut commit = pin!(commit);
        if let Ok(done) = timeout(SLOW_COMMIT_TIMEOUT, commit.as_mut()).await {
            return done;
        }
        let slow = Arc::clone(&self.slow);
        tokio::select! {
            biased;
            done = commit.as_mut() => done,
            _slow = slow.acquire_owned() => {
                drop(self);
                commit.await
            }
        }
    }
}

impl GroupCommit {
    pub(crate) fn new(share: Arc<CommitShare>) -> Self {
        Self {
            share,
            permit: Arc::new(Semaphore::new(1)),
            slow: Arc::new(Semaphore::new(1)),
            waiting: Mutex::default(),
        }
    }

    /// Queues a report. The task that queues it also waits for a permit, so every report is
    /// committed.
    pub(crate) fn queue(&self, report: WorkerReport) {
        self.waiting.lock().push_back(report);
    }

    /// Waits for the permit. Tasks get it in the order of their calls.
    pub(crate) async fn permit(&self) -> CommitPermit {
        let commit = self.share.begin_settle();
        match Arc::clone(&self.permit).acquire_owned().await {
            Ok(permit) => CommitPermit {
                _permit: permit,
                _commit: commit,
                slow: Arc::clone(&self.slow),
            },
            // The semaphore is never closed.
            Err(_) => pending().await,
        }
    }

    /// Takes the reports of a commit that begins now: the first in any case, and further ones up to
    /// the bound of a commit.
    pub(crate) fn take(&self, now_ms: i64) -> Vec<WorkerReport> {
        let max = self.share.max_outcomes(now_ms);
        let (mut accounted, mut receipts) = (0, 0);
        let mut taken = Vec::new();
        let mut waiting = self.waiting.lock();
        while let Some(report) = waiting.pop_front() {
            accounted += report.ack.accounted;
            receipts += report.receipts.len();
            if !taken.is_empty() && accounted.max(receipts) > max {
                waiting.push_front(report);
                break;
            }
            taken.push(report);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::commit_share::MAX_OUTCOMES;
    use crate::dispatch::report::{Answers, PendingAck};
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};
    use tokio::sync::mpsc;

    fn group_commit() -> GroupCommit {
        GroupCommit::new(Arc::default())
    }

    fn poll(waiting: &mut Pin<&mut impl Future<Output = CommitPermit>>) -> Option<CommitPermit> {
        match waiting
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    /// Returns a report with so many responses of a carrier.
    fn report(carrier: &str, accounted: usize) -> WorkerReport {
        WorkerReport {
            progress: Vec::new(),
            receipts: Vec::new(),
            ack: PendingAck {
                carrier: carrier.into(),
                accounted,
                answers: Answers(Vec::new()),
                aside: 0,
                done: mpsc::unbounded_channel().0,
            },
        }
    }

    #[test]
    fn the_first_task_that_waits_has_the_next_permit() {
        let group = group_commit();
        let taken = poll(&mut pin!(group.permit()));
        assert!(taken.is_some());
        let (mut first, mut second) = (pin!(group.permit()), pin!(group.permit()));
        assert!(poll(&mut first).is_none() && poll(&mut second).is_none());
        drop(taken);
        assert!(poll(&mut second).is_none(), "it belongs to the first task");
        let permit = poll(&mut first);
        assert!(permit.is_some());
        drop(permit);
        assert!(poll(&mut second).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn one_slow_commit_delays_no_other_and_a_second_one_does() {
        let group = group_commit();
        let hangs = async || {
            let permit = group.permit().await;
            permit.during(pending::<()>()).await;
        };
        let (mut first, second) = (pin!(hangs()), pin!(hangs()));
        let waits = async |time: Duration| timeout(time, group.permit()).await;
        tokio::select! {
            biased;
            () = &mut first => unreachable!(),
            permit = waits(SLOW_COMMIT_TIMEOUT / 2) => assert!(permit.is_err(), "the commit holds the permit"),
        }
        tokio::select! {
            biased;
            () = &mut first => unreachable!(),
            permit = waits(SLOW_COMMIT_TIMEOUT) => assert!(permit.is_ok(), "the commit is slow"),
        }
        tokio::select! {
            biased;
            () = async { tokio::join!(first, second); } => unreachable!(),
            permit = async {
                tokio::time::sleep(SLOW_COMMIT_TIMEOUT).await;
                waits(4 * SLOW_COMMIT_TIMEOUT).await
            } => assert!(permit.is_err(), "two commits are slow"),
        }
    }

    #[test]
    fn a_commit_takes_all_queued_reports_up_to_its_bound() {
        let group = group_commit();
        let all = [
            ("mtn", MAX_OUTCOMES + 1),
            ("glo", 10),
            ("airtel", MAX_OUTCOMES - 10),
            ("t2", 1),
        ];
        for (carrier, accounted) in all {
            group.queue(report(carrier, accounted));
        }
        let take = || {
            let taken = group.take(0);
            let carriers = taken.iter().map(|report| report.ack.carrier.to_string());
            carriers.collect::<Vec<_>>()
        };
        assert_eq!(take(), ["mtn"]);
        assert_eq!(take(), ["glo", "airtel"]);
        assert_eq!(take(), ["t2"]);
        assert!(take().is_empty());
    }
}
