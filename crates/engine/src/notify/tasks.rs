//! The tasks of the callbacks: claim, begin, commit, and follow the secrets.

use super::worker::{Phase, WebhookWorker, reached};
use database::Outage;
use std::sync::Arc;
use std::time::Duration;
use store::{AttemptOutcome, Revision};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

/// The pause after which more flights may begin than land. A receiver nearby has answered by then.
const START_PAUSE: Duration = Duration::from_millis(2);
/// The pause between two looks, however many hints there are.
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// The pause before a look that goes on: a round over many origins neither takes a core nor long.
const ROUND_PAUSE: Duration = Duration::from_millis(100);
/// Outcomes in one commit.
const COMMIT_GROUP: usize = 500;

/// Begins after each pause what was not to begin before it, until a shutdown.
pub(crate) async fn begin(worker: Arc<WebhookWorker>) {
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

/// Looks at the database on hints and every so often, until a shutdown.
pub(crate) async fn claim(worker: Arc<WebhookWorker>, every: Duration) {
    let mut phase = worker.phase.subscribe();
    // How far the round over all origins has come, and whether one is to follow that was asked for meanwhile.
    let (mut behind, mut another) = (None, false);
    let outage = Outage::of("due callbacks cannot be claimed");
    while *phase.borrow_and_update() == Phase::Open {
        let mut pause = every;
        let looked = outage.note(worker.look(&mut behind).await).is_some();
        if looked && (behind.is_some() || std::mem::take(&mut another)) {
            pause = every.min(ROUND_PAUSE);
        }
        worker.attempts.client.sweep();
        tokio::select! {
            biased;
            _ = phase.changed() => {}
            () = sleep(pause) => {}
            () = worker.due.notified() => {
                another = behind.is_some();
                sleep(LOOK_PAUSE).await;
            }
        }
    }
}

/// Follows the changes of secrets, until a shutdown.
pub(crate) async fn follow(worker: Arc<WebhookWorker>, revision: watch::Receiver<Revision>) {
    let mut phase = worker.phase.subscribe();
    tokio::select! {
        biased;
        () = reached(&mut phase, Phase::Closing) => {}
        () = worker.attempts.secrets.follow(&worker.store, revision) => {}
    }
}

/// Commits outcomes as they come, all at once that came during the last commit.
pub(crate) async fn commit(
    worker: Arc<WebhookWorker>,
    mut finished: mpsc::Receiver<AttemptOutcome>,
) {
    let mut phase = worker.phase.subscribe();
    let mut group = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = reached(&mut phase, Phase::Quiet), if !finished.is_closed() => finished.close(),
            count = finished.recv_many(&mut group, COMMIT_GROUP) => {
                if count == 0 {
                    return;
                }
                worker.write_down(std::mem::take(&mut group)).await;
            }
        }
    }
}
