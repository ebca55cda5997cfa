//! Requests of the last minute that a window does not know of.

/// The length of a period, milliseconds.
const PERIOD_MS: i64 = 20_000;
/// So many periods cover any minute, however it lies over them.
const PERIODS: usize = 4;

/// Requests by period: a few octets, where a window has some for each quarter of a second that counts something, since
/// each key that is used has one.
#[derive(Clone, Debug, Default)]
pub(super) struct Uncounted {
    /// The newest period first.
    counts: [u32; PERIODS],
    newest: i64,
}

impl Uncounted {
    /// How many came in the last minute, or up to a period before it.
    pub(super) fn total(&mut self, now_ms: i64) -> u32 {
        // A clock that was set back changes nothing.
        let newest = self.newest.max(now_ms.div_euclid(PERIOD_MS));
        let passed = usize::try_from(newest - self.newest).unwrap_or(PERIODS);
        let passed = passed.min(PERIODS);
        self.counts.rotate_right(passed);
        self.counts[..passed].fill(0);
        self.newest = newest;
        self.counts.iter().sum()
    }

    /// One more, at the time of the last [`total`](Self::total).
    pub(super) fn add(&mut self) {
        self.counts[0] += 1;
    }
}
