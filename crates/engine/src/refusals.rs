//! Refusals for want of room take turns. Whoever asks again the moment it is refused would otherwise have more of the
//! processor for refusals than is left for what is accepted, the more so the more ask.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long each takes at least.
const PAUSE: Duration = Duration::from_millis(500);
/// How far apart they are: 2,000 a second, a few hundredths of a processor.
const DISTANCE: Duration = Duration::from_micros(500);
/// How long one takes at most, however many wait.
const MOST: Duration = Duration::from_secs(10);

/// Who is refused, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    /// The last turn that was given.
    last: Mutex<Option<Instant>>,
    /// Whether turns are over, as the process is about to end.
    over: watch::Sender<bool>,
}

/// A place in the line, which whoever goes before gives back to those behind.
struct Turn<'a> {
    line: &'a Line,
    at: Instant,
    /// By how much it made the line longer.
    longer: Duration,
    has_come: bool,
}

impl Refusals {
    /// Waits until the refusal of now may be given.
    pub(crate) async fn wait(&self) {
        let mut turn = self.0.turn(Instant::now());
        let mut over = self.0.over.subscribe();
        tokio::select! {
            biased;
            _ = over.wait_for(|over| *over) => {}
            () = sleep_until(turn.at) => {}
        }
        turn.has_come = true;
    }

    /// Has nobody wait any longer.
    pub(crate) fn end(&self) {
        self.0.over.send_replace(true);
    }
}

impl Line {
    fn turn(&self, now: Instant) -> Turn<'_> {
        let mut last = self.lock();
        let before = last.unwrap_or(now);
        let at = (before + DISTANCE).clamp(now + PAUSE, now + MOST);
        *last = Some(at);
        Turn {
            line: self,
            at,
            longer: at.saturating_duration_since(before).min(DISTANCE),
            has_come: false,
        }
    }

    /// The lock, also after a panic elsewhere: there is nothing to leave half done.
    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.has_come
            && let Some(last) = &mut *self.line.lock()
        {
            *last -= self.longer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long somebody waits who comes now.
    fn next(refusals: &Refusals, now: Instant) -> (Turn<'_>, Duration) {
        let turn = refusals.0.turn(now);
        let wait = turn.at - now;
        (turn, wait)
    }

    #[test]
    fn refusals_come_one_after_the_other_and_none_waits_longer_than_the_most() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let all: Vec<_> = (0..30_000).map(|_| next(&refusals, now)).collect();
        let waits: Vec<Duration> = all.iter().map(|(_, wait)| *wait).collect();
        assert_eq!(waits[..2], [PAUSE, PAUSE + DISTANCE]);
        assert_eq!(waits[29_999], MOST);
        let later = now + 2 * MOST;
        assert_eq!(next(&refusals, later).1, PAUSE, "all have been refused");
    }

    #[test]
    fn whoever_goes_gives_the_turn_back() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let _first = next(&refusals, now);
        for _ in 0..30_000 {
            drop(next(&refusals, now));
        }
        assert_eq!(next(&refusals, now).1, PAUSE + DISTANCE);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_once_the_process_is_about_to_end() {
        let refusals = Refusals::default();
        let began = Instant::now();
        let ending = async {
            tokio::task::yield_now().await;
            refusals.end();
        };
        tokio::join!(refusals.wait(), ending);
        refusals.wait().await;
        assert_eq!(began.elapsed(), Duration::ZERO);
    }
}
