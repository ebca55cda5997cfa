//! How many recipients may wait before a campaign finds no room: as many as the machine accepts in time.

use super::limits::{MANY_RECIPIENTS, MAX_WAITING};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How long a campaign is to wait at most for those before it, as far as one can tell. A send that is let in to wait longer is
/// likely to be refused in the end, and to understand it was for nothing: that took an eighth of a slow machine.
const AHEAD: Duration = Duration::from_millis(2_500);

/// Recipients that were accepted lately in [`AHEAD`].
#[derive(Clone, Debug)]
pub(crate) struct AcceptRate(Arc<AtomicUsize>);

impl Default for AcceptRate {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MAX_WAITING)))
    }
}

impl AcceptRate {
    /// Returns `true` if so many recipients take too long for one more campaign to wait behind them.
    pub(crate) fn is_behind(&self, waiting: usize) -> bool {
        waiting >= self.0.load(Ordering::Relaxed)
    }

    /// Learns from the lap that ends now, if one does.
    pub(crate) fn learn(&self, lap: Option<Lap>, now: Instant) {
        let Some(lap) = lap else { return };
        let took = now.saturating_duration_since(lap.began);
        let known = self.0.load(Ordering::Relaxed);
        self.0
            .store(learned(known, lap.recipients, took), Ordering::Relaxed);
    }
}

/// From a commit with as many recipients as one takes until campaigns may have the next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Lap {
    began: Instant,
    recipients: usize,
}

impl Lap {
    /// With a commit that began then. The time of a smaller commit says nothing of one that is full: none begins with
    /// it.
    pub(crate) fn with(lap: Option<Self>, began: Instant, recipients: usize) -> Option<Self> {
        match lap {
            Some(lap) => Some(Self {
                recipients: lap.recipients + recipients,
                ..lap
            }),
            None => (recipients >= MANY_RECIPIENTS).then_some(Self { began, recipients }),
        }
    }
}

/// A quarter is what is new, so that one long commit changes little.
fn learned(known: usize, recipients: usize, took: Duration) -> usize {
    let ahead = recipients as u128 * AHEAD.as_micros() / took.as_micros().max(1);
    let new = usize::try_from(ahead).unwrap_or(MAX_WAITING);
    let new = new.clamp(MANY_RECIPIENTS, MAX_WAITING);
    known - known / 4 + new / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rate after so many commits, each of 3,000 recipients in so many milliseconds.
    fn after(known: usize, commits: usize, took_ms: u64) -> usize {
        (0..commits).fold(known, |known, _| {
            learned(known, 3_000, Duration::from_millis(took_ms))
        })
    }

    #[test]
    fn as_many_may_wait_as_are_accepted_in_time() {
        let table = [
            // A fast machine lets wait what there is memory for.
            (MAX_WAITING, 20, 10, MAX_WAITING),
            (MAX_WAITING, 20, 100, 75_000),
            (75_000, 20, 10, MAX_WAITING),
            // One long commit changes little.
            (MAX_WAITING, 1, 5_000, 375_750),
            // However slow it is, some are let in.
            (MAX_WAITING, 60, 60_000, MANY_RECIPIENTS),
        ];
        for (known, commits, took_ms, expected) in table {
            let found = after(known, commits, took_ms);
            let off = found.abs_diff(expected);
            assert!(off <= expected / 50, "{commits} of {took_ms} ms: {found}");
        }
        assert_eq!(learned(MAX_WAITING, 1, Duration::ZERO), MAX_WAITING);
    }

    #[test]
    fn commits_that_are_not_full_begin_no_lap_and_belong_to_one() {
        let began = Instant::now();
        let later = began + Duration::from_secs(1);
        assert_eq!(Lap::with(None, began, MANY_RECIPIENTS - 1), None);
        let lap = Lap::with(None, began, MANY_RECIPIENTS);
        let recipients = MANY_RECIPIENTS + 1;
        assert_eq!(Lap::with(lap, later, 1), Some(Lap { began, recipients }));
    }
}
