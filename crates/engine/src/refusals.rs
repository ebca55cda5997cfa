//! Refusals for want of room take turns. Whoever asks again the moment it is refused would otherwise have more of the
//! processor for refusals than is left for what is accepted, the more so the more ask.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long each takes at least.
const PAUSE: Duration = Duration::from_millis(500);
/// How far apart they are: 2,000 a second, a few hundredths of a processor.
const DISTANCE: Duration = Duration::from_micros(500);
/// How long one takes at most, however many wait.
const MOST: Duration = Duration::from_secs(10);

/// Who is refused, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals {
    last: Arc<Mutex<Option<Instant>>>,
}

impl Refusals {
    /// Waits until the refusal of now may be given.
    pub(crate) async fn wait(&self) {
        let turn = self.turn(Instant::now());
        tokio::time::sleep_until(turn).await;
    }

    fn turn(&self, now: Instant) -> Instant {
        // The lock, also after a panic elsewhere: there is nothing to leave half done.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let next = last.map_or(now, |last| last + DISTANCE);
        let turn = next.clamp(now + PAUSE, now + MOST);
        *last = Some(turn);
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_come_one_after_the_other_and_none_waits_longer_than_the_most() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let waits: Vec<Duration> = (0..30_000).map(|_| refusals.turn(now) - now).collect();
        assert_eq!(waits[..2], [PAUSE, PAUSE + DISTANCE]);
        assert_eq!(waits[29_999], MOST);
        let later = now + 2 * MOST;
        assert_eq!(refusals.turn(later) - later, PAUSE, "all have been refused");
    }
}
