//! Groups of sends that are committed together.

use super::commit::accept;
use super::limits::{MANY_RECIPIENTS, MAX_SENDS, TURN_TIMEOUT};
use super::load::{AcceptRate, Lap};
use super::waiting::{UNAVAILABLE, Waiting};
use crate::context::Context;
use domain::Fingerprint;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long sends wait for a turn of the carriers at most.
const MAX_PASSING: Duration = Duration::from_secs(1);

pub(crate) async fn run(
    context: Arc<Context>,
    mut queue: mpsc::Receiver<Waiting>,
    pace: AcceptRate,
) {
    let mut received = Vec::with_capacity(MAX_SENDS);
    let mut left: VecDeque<Waiting> = VecDeque::new();
    // The turn of the carriers that campaigns let pass.
    let mut commit_task: Option<JoinHandle<()>> = None;
    let mut lap: Option<Lap> = None;
    loop {
        if left.is_empty() && queue.is_empty() {
            // Nobody waits, and how long nobody comes says nothing.
            lap = None;
        }
        if left.is_empty() && queue.recv_many(&mut received, MAX_SENDS).await == 0 {
            return;
        }
        while received.len() < MAX_SENDS
            && let Ok(waiting) = queue.try_recv()
        {
            received.push(waiting);
        }
        left.extend(received.drain(..));
        let now = Instant::now();
        commit_task = commit_task.filter(|commit_task| !commit_task.is_finished());
        if commit_task.is_none() {
            pace.learn(lap.take(), now);
        }
        let group = group(&mut left, now, commit_task.is_none());
        if group.is_empty() {
            if let Some(passing) = commit_task.take_if(|_| !left.is_empty()) {
                commit_task = until(passing, &mut queue, &mut received).await;
            }
            continue;
        }
        let campaigns = group.iter().any(Waiting::is_campaign);
        let full = group.len() == MAX_SENDS;
        lap = Lap::with(lap, now, group.iter().map(Waiting::recipients).sum());
        accept(&context, group).await;
        if left.is_empty() && queue.is_empty() {
            pace.learn(lap.take(), Instant::now());
        }
        // There is one writer on SQLite, at which they meet anyway.
        if context.store.is_shared() {
            let passing = let_pass(Arc::clone(&context));
            if full {
                passing.await;
            } else if campaigns {
                commit_task = Some(tokio::spawn(passing));
            }
        }
    }
}

/// Lets a turn of the carriers pass, where one is under way, or so much time: one that the database holds up is to hold up
/// nobody else.
async fn let_pass(context: Arc<Context>) {
    let _ = timeout(MAX_PASSING, context.commit_share.wait_for_settle()).await;
}

/// Waits for the end of a turn, or for a send to a few, which does not wait for it. Gives the turn that has not ended.
async fn until(
    mut commit_task: JoinHandle<()>,
    queue: &mut mpsc::Receiver<Waiting>,
    received: &mut Vec<Waiting>,
) -> Option<JoinHandle<()>> {
    loop {
        tokio::select! {
            biased;
            _ = &mut commit_task => return None,
            1.. = queue.recv_many(received, MAX_SENDS) => {}
        }
        if received.iter().any(|one| !one.is_campaign()) {
            return Some(commit_task);
        }
    }
}

/// Takes out the next group: no two sends with the same fingerprint, since only the outcome of the first
/// tells whether the second is a duplicate. Sends to a few overtake campaigns, which may have to let others pass. A send
/// that has waited too long is refused.
pub(crate) fn group(
    left: &mut VecDeque<Waiting>,
    now: Instant,
    with_campaigns: bool,
) -> Vec<Waiting> {
    let mut group: Vec<Waiting> = Vec::with_capacity(left.len().min(MAX_SENDS));
    let mut fingerprints: HashSet<Fingerprint> = HashSet::new();
    let mut recipients = 0;
    let mut later = VecDeque::new();
    while let Some(waiting) = left.pop_front() {
        if waiting.answer.is_closed() {
            // Nobody waits for it: it was answered that it was not accepted.
            continue;
        }
        if now.saturating_duration_since(waiting.since) > TURN_TIMEOUT {
            drop(waiting.counted);
            let _ = waiting.answer.send(Err(UNAVAILABLE.into()));
            continue;
        }
        let has_room = group.len() < MAX_SENDS
            && (!waiting.is_campaign() || (with_campaigns && recipients < MANY_RECIPIENTS));
        if !has_room || !fingerprints.insert(waiting.draft.fingerprint) {
            later.push_back(waiting);
        } else {
            recipients += waiting.recipients();
            group.push(waiting);
        }
    }
    *left = later;
    group
}
