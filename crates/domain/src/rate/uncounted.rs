//! The requests of the last minute that the window has not counted yet.

/// The length of a period, milliseconds.
const PERIOD_MS: i64 = 20_000;
/// Number of periods that cover any minute.
const PERIODS: usize = 4;

/// The number of requests by period. Four counts are smaller than a window, and each used key has
/// a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncounted {
    /// The counts, newest period first.
    counts: [u32; PERIODS],
    newest: i64,
}

impl Uncounted {
    /// Returns the number of requests in the last minute and up to one period before it.
    pub(super) fn total(&mut self, now_ms: i64) -> u32 {
        // After the clock was set back, the newest period stays.
        let newest = self.newest.max(now_ms.div_euclid(PERIOD_MS));
        let passed = usize::try_from(newest - self.newest).unwrap_or(PERIODS);
        let passed = passed.min(PERIODS);
        self.counts.rotate_right(passed);
        self.counts[..passed].fill(0);
        self.newest = newest;
        self.counts.iter().sum()
    }

    /// Counts a request at the time of the last [`total`](Self::total).
    pub(super) fn add(&mut self) {
        self.counts[0] += 1;
    }
}
