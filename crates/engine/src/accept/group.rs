//! The loop that forms groups of sends and commits them.

use super::campaign_limit::{CampaignLimit, RateSample};
use super::commit::accept;
use super::limits::{FULL_COMMIT_RECIPIENTS, MAX_SENDS, QUEUE_TIMEOUT};
use super::queued_send::{QueuedSend, UNAVAILABLE};
use crate::context::Context;
use domain::Fingerprint;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// Longest wait for a settle commit before the next accept commit.
const MAX_SETTLE_WAIT: Duration = Duration::from_secs(1);

pub(crate) async fn run(
    context: Arc<Context>,
    mut queue: mpsc::Receiver<QueuedSend>,
    campaign_limit: CampaignLimit,
) {
    let mut received = Vec::with_capacity(MAX_SENDS);
    let mut queued: VecDeque<QueuedSend> = VecDeque::new();
    // A task that waits for a settle commit. While it runs, campaigns stay in the queue.
    let mut settle_wait: Option<JoinHandle<()>> = None;
    let mut sample: Option<RateSample> = None;
    loop {
        if queued.is_empty() && queue.is_empty() {
            // Idle time follows. With it, the sample would show a rate that is too low.
            sample = None;
        }
        if queued.is_empty() && queue.recv_many(&mut received, MAX_SENDS).await == 0 {
            return;
        }
        while received.len() < MAX_SENDS
            && let Ok(send) = queue.try_recv()
        {
            received.push(send);
        }
        queued.extend(received.drain(..));
        let now = Instant::now();
        settle_wait = settle_wait.filter(|settle_wait| !settle_wait.is_finished());
        if settle_wait.is_none() {
            campaign_limit.record(sample.take(), now);
        }
        let group = take_group(&mut queued, now, settle_wait.is_none());
        if group.is_empty() {
            if let Some(waiting_for_settle) = settle_wait.take_if(|_| !queued.is_empty()) {
                settle_wait =
                    settle_or_small_send(waiting_for_settle, &mut queue, &mut received).await;
            }
            continue;
        }
        let campaigns = group.iter().any(QueuedSend::is_campaign);
        let full = group.len() == MAX_SENDS;
        sample = RateSample::with(sample, now, group.iter().map(QueuedSend::recipients).sum());
        accept(&context, group).await;
        if queued.is_empty() && queue.is_empty() {
            campaign_limit.record(sample.take(), Instant::now());
        }
        // PostgreSQL runs accept and settle commits at the same time, so accept lets settle end
        // first. SQLite has one writer, which runs the commits of both stages in turn.
        if context.store.is_shared() {
            let waiting_for_settle = wait_for_settle(Arc::clone(&context));
            if full {
                waiting_for_settle.await;
            } else if campaigns {
                settle_wait = Some(tokio::spawn(waiting_for_settle));
            }
        }
    }
}

/// Waits until a running settle commit ends. The wait has a limit, so that a stalled settle commit
/// does not stop accepting. Returns at once if none runs.
async fn wait_for_settle(context: Arc<Context>) {
    let _ = timeout(MAX_SETTLE_WAIT, context.commit_share.wait_for_settle()).await;
}

/// Waits until the settle commit ends or a small send arrives. Returns the task that waits for the
/// commit if it still runs.
async fn settle_or_small_send(
    mut settle_wait: JoinHandle<()>,
    queue: &mut mpsc::Receiver<QueuedSend>,
    received: &mut Vec<QueuedSend>,
) -> Option<JoinHandle<()>> {
    loop {
        tokio::select! {
            biased;
            _ = &mut settle_wait => return None,
            1.. = queue.recv_many(received, MAX_SENDS) => {}
        }
        if received.iter().any(|one| !one.is_campaign()) {
            return Some(settle_wait);
        }
    }
}

/// Removes the next group of sends from the queue.
///
/// A campaign stays queued if `with_campaigns` is `false` or the group has enough recipients. Small
/// sends behind it overtake it. Among sends with one fingerprint, only the first joins the
/// group. The others are duplicates if it is accepted, so they stay queued until its commit ends. A
/// send that waited longer than [`QUEUE_TIMEOUT`] is refused.
pub(crate) fn take_group(
    queued: &mut VecDeque<QueuedSend>,
    now: Instant,
    with_campaigns: bool,
) -> Vec<QueuedSend> {
    let mut group: Vec<QueuedSend> = Vec::with_capacity(queued.len().min(MAX_SENDS));
    let mut fingerprints: HashSet<Fingerprint> = HashSet::new();
    let mut recipients = 0;
    let mut deferred = VecDeque::new();
    while let Some(send) = queued.pop_front() {
        if send.answer.is_closed() {
            // The send timed out, and its client received a refusal.
            continue;
        }
        if now.saturating_duration_since(send.queued_at) > QUEUE_TIMEOUT {
            drop((send.counted, send.key));
            let _ = send.answer.send(Err(UNAVAILABLE.into()));
            continue;
        }
        let fits = group.len() < MAX_SENDS
            && (!send.is_campaign() || (with_campaigns && recipients < FULL_COMMIT_RECIPIENTS));
        if !fits || !fingerprints.insert(send.draft.fingerprint) {
            deferred.push_back(send);
        } else {
            recipients += send.recipients();
            group.push(send);
        }
    }
    *queued = deferred;
    group
}
