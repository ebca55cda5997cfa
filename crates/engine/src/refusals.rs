//! Refusals for want of room take turns. Whoever asks again the moment it is refused would otherwise have more of the
//! processor for refusals than is left for what is accepted, the more so the more ask.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// How long each takes at least.
const PAUSE: Duration = Duration::from_millis(500);
/// A refusal costs a third of what a message does. One for so many that are admitted takes little from these, however
/// slow the machine is.
const ADMITTED: u32 = 8;
/// How far apart they are at least, a few hundredths of a processor, and at most, where nothing is admitted.
const DISTANCES: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(5)];
/// How long is counted what is admitted.
const COUNTED: Duration = Duration::from_secs(1);
/// How long one takes at most, however many wait: within the half minute that most callers wait for an answer. Who is
/// refused asks again at once, so the thousands that wait make as many refusals in each such time.
const MOST: Duration = Duration::from_secs(20);

/// Who is refused, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refusals(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    state: Mutex<State>,
    /// What was admitted since it was last counted.
    admitted: AtomicU32,
    /// Whether turns are over, as the process is about to end.
    over: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    /// The last turn that was given.
    last: Option<Instant>,
    /// When it was last counted what was admitted.
    counted: Option<Instant>,
    distance: Duration,
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
    /// Notes that a send was not refused.
    pub(crate) fn admitted(&self) {
        self.0.admitted.fetch_add(1, Ordering::Relaxed);
    }

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
        let mut state = self.lock();
        let distance = state.distance(now, &self.admitted);
        let before = state.last.unwrap_or(now);
        let at = (before + distance).clamp(now + PAUSE, now + MOST);
        state.last = Some(at);
        Turn {
            line: self,
            at,
            longer: at.saturating_duration_since(before).min(distance),
            has_come: false,
        }
    }

    /// The lock, also after a panic elsewhere: there is nothing to leave half done.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How far apart turns are now, by what was admitted in the last second or so.
    fn distance(&mut self, now: Instant, admitted: &AtomicU32) -> Duration {
        let [least, most] = DISTANCES;
        let counted = *self.counted.get_or_insert_with(|| {
            self.distance = least;
            now
        });
        let time = now.saturating_duration_since(counted);
        if time >= COUNTED {
            let admitted = admitted.swap(0, Ordering::Relaxed);
            self.distance = (time * ADMITTED / admitted.max(1)).clamp(least, most);
            self.counted = Some(now);
        }
        self.distance
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.has_come
            && let Some(last) = &mut self.line.lock().last
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
        let all: Vec<_> = (0..50_000).map(|_| next(&refusals, now)).collect();
        let waits: Vec<Duration> = all.iter().map(|(_, wait)| *wait).collect();
        assert_eq!(waits[..2], [PAUSE, PAUSE + DISTANCES[0]]);
        assert_eq!(waits[49_999], MOST);
        let later = now + 2 * MOST;
        assert_eq!(next(&refusals, later).1, PAUSE, "all have been refused");
    }

    #[test]
    fn they_are_as_far_apart_as_what_is_admitted_leaves_room_for() {
        let refusals = Refusals::default();
        let mut now = Instant::now();
        for (admitted, apart_us) in [(0, 5_000), (3_200, 2_500), (6_400, 1_250), (90_000, 500)] {
            let _first = next(&refusals, now);
            (0..admitted).for_each(|_| refusals.admitted());
            now += COUNTED;
            let (_of_now, wait) = next(&refusals, now);
            let (_after, longer) = next(&refusals, now);
            let apart = longer.saturating_sub(wait);
            assert_eq!(
                apart,
                Duration::from_micros(apart_us),
                "{admitted} a second"
            );
            now += MOST;
            refusals.0.turn(now);
        }
    }

    #[test]
    fn whoever_goes_gives_the_turn_back() {
        let refusals = Refusals::default();
        let now = Instant::now();
        let _first = next(&refusals, now);
        for _ in 0..30_000 {
            drop(next(&refusals, now));
        }
        assert_eq!(next(&refusals, now).1, PAUSE + DISTANCES[0]);
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
