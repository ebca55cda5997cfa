//! The tasks of the notify stage: claim, start, commit, and reload of secrets.

use super::worker::{Phase, WebhookWorker, reached};
use database::Outage;
use std::sync::Arc;
use std::time::Duration;
use store::{AttemptOutcome, Revision};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

/// Delay before further tasks may start. A near receiver has answered by then.
const START_PAUSE: Duration = Duration::from_millis(2);
/// Shortest time between two polls of the database.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Delay before the next part of a round over many origins, so that a round neither occupies a core
/// nor takes long.
const ROUND_INTERVAL: Duration = Duration::from_millis(100);
/// Maximum number of outcomes in one commit.
const COMMIT_BATCH_SIZE: usize = 500;

/// Starts further callbacks after each pause, until a shutdown.
pub(crate) async fn start_after_pauses(worker: Arc<WebhookWorker>) {
    let mut phase = worker.phase.subscribe();
    let pauses = async {
        loop {
            worker.pause.notified().await;
            sleep(START_PAUSE).await;
            let mut lanes = worker.lanes();
            lanes.paused();
            worker.start(&mut lanes);
        }
    };
    tokio::select! {
        biased;
        () = reached(&mut phase, Phase::Closing) => {}
        () = pauses => {}
    }
}

/// Polls the database at hints and periodically, until a shutdown.
pub(crate) async fn claim(worker: Arc<WebhookWorker>, interval: Duration) {
    let mut phase = worker.phase.subscribe();
    // The position in the current round over all origins, and whether another round was requested
    // meanwhile.
    let (mut position, mut repeat) = (None, false);
    let outage = Outage::of("due callbacks cannot be claimed");
    while *phase.borrow_and_update() == Phase::Open {
        let mut delay = interval;
        let polled = outage.note(worker.poll(&mut position).await).is_some();
        if polled && (position.is_some() || std::mem::take(&mut repeat)) {
            delay = interval.min(ROUND_INTERVAL);
        }
        worker.attempts.client.sweep();
        tokio::select! {
            biased;
            _ = phase.changed() => {}
            () = sleep(delay) => {}
            () = worker.due.notified() => {
                repeat = position.is_some();
                sleep(MIN_POLL_INTERVAL).await;
            }
        }
    }
}

/// Follows changes of the secrets until a shutdown.
pub(crate) async fn follow(worker: Arc<WebhookWorker>, revision: watch::Receiver<Revision>) {
    let mut phase = worker.phase.subscribe();
    tokio::select! {
        biased;
        () = reached(&mut phase, Phase::Closing) => {}
        () = worker.attempts.secrets.follow(&worker.store, revision) => {}
    }
}

/// Commits outcomes in groups. A group holds the outcomes that arrived during the last commit.
pub(crate) async fn commit(
    worker: Arc<WebhookWorker>,
    mut finished: mpsc::Receiver<AttemptOutcome>,
) {
    let mut phase = worker.phase.subscribe();
    let mut group = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = reached(&mut phase, Phase::Drained), if !finished.is_closed() => finished.close(),
            count = finished.recv_many(&mut group, COMMIT_BATCH_SIZE) => {
                if count == 0 {
                    return;
                }
                worker.commit_outcomes(std::mem::take(&mut group)).await;
            }
        }
    }
}
