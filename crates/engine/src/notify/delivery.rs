//! Flights: each posts one callback after the other, until none may fly.

use super::attempt::Ended;
use super::worker::{Desk, InHand, Phase, reached};
use crate::notify::lane::InLane;
use crate::notify::partitions::Partitions;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How long a callback waits in hand, milliseconds: less than any claim lasts, so that no other node takes it
/// over meanwhile. Then it goes back to the database, where it can be claimed anew.
const MAX_HELD_MS: i64 = 40_000;
/// The pause after which more flights may begin than land. A receiver nearby has answered by then.
const START_PAUSE: Duration = Duration::from_millis(2);

impl Desk {
    /// Begins as many flights as may begin now.
    pub(crate) fn start(self: &Arc<Self>, lanes: &mut Partitions<InHand>) {
        while let Some(in_hand) = lanes.start() {
            tokio::spawn(fly(Arc::clone(self), in_hand));
        }
        if lanes.wants_pause() {
            self.pause.notify_one();
        }
    }

    /// Whether it waited too long for a receiver that fails: one that is told of four a minute never catches up.
    fn is_over(&self, in_hand: &InHand) -> bool {
        let waited_ms = self.clock.now_ms() - in_hand.callback.due_at_ms;
        waited_ms > self.patience_ms && self.lanes().of(in_hand.environment()).is_broken(in_hand)
    }
}

/// Begins after each pause what was not to begin before it, until a shutdown.
pub(in crate::notify) async fn begin(desk: Arc<Desk>) {
    let mut phase = desk.phase.subscribe();
    let pauses = async {
        loop {
            desk.pause.notified().await;
            sleep(START_PAUSE).await;
            let mut lanes = desk.lanes();
            lanes.paused();
            desk.start(&mut lanes);
        }
    };
    tokio::select! {
        biased;
        () = reached(&mut phase, Phase::Closing) => {}
        () = pauses => {}
    }
}

async fn fly(desk: Arc<Desk>, mut in_hand: InHand) {
    let mut phase = desk.phase.subscribe();
    loop {
        let is_stale = desk.clock.now_ms() - in_hand.since_ms > MAX_HELD_MS;
        let is_over = desk.is_over(&in_hand);
        let ended = tokio::select! {
            biased;
            () = reached(&mut phase, Phase::BreakingOff), if !is_stale => Ended::UNTOUCHED,
            () = ready(()), if is_over && !is_stale => Ended::GIVEN_UP,
            ended = desk.attempt(&in_hand.callback), if !is_stale => ended,
            else => Ended::UNTOUCHED,
        };
        match desk.land(in_hand, ended).await {
            Some(following) => in_hand = following,
            None => return,
        }
    }
}
