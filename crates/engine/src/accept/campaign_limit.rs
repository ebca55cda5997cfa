//! Limits the queued recipients of campaigns to the number that the machine accepts in time.

use super::limits::{FULL_COMMIT_RECIPIENTS, MAX_QUEUED_RECIPIENTS};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Longest expected wait of a campaign. Sends queued for longer usually time out, so parsing them
/// wastes CPU (12 % on a slow machine).
const MAX_CAMPAIGN_DELAY: Duration = Duration::from_millis(2_500);

/// The limit of queued recipients at which a campaign is refused. It is the number that the machine
/// accepts in [`MAX_CAMPAIGN_DELAY`], as a moving average.
#[derive(Clone, Debug)]
pub(crate) struct CampaignLimit(Arc<AtomicUsize>);

impl Default for CampaignLimit {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MAX_QUEUED_RECIPIENTS)))
    }
}

impl CampaignLimit {
    /// Returns `true` if a campaign behind `queued` recipients would wait too long.
    pub(crate) fn is_exceeded_by(&self, queued: usize) -> bool {
        queued >= self.0.load(Ordering::Relaxed)
    }

    /// Updates the average with a sample that ends at `now`.
    pub(crate) fn record(&self, sample: Option<RateSample>, now: Instant) {
        let Some(sample) = sample else { return };
        let took = now.saturating_duration_since(sample.began);
        let known = self.0.load(Ordering::Relaxed);
        self.0.store(
            moving_average(known, sample.recipients, took),
            Ordering::Relaxed,
        );
    }
}

/// A measurement of the accept rate. It begins with a full commit and ends when the next campaign
/// can be committed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct RateSample {
    began: Instant,
    recipients: usize,
}

impl RateSample {
    /// Adds a commit to the sample. Only a full commit begins a sample, since a small one shows
    /// nothing about the rate.
    pub(crate) fn with(sample: Option<Self>, began: Instant, recipients: usize) -> Option<Self> {
        match sample {
            Some(sample) => Some(Self {
                recipients: sample.recipients + recipients,
                ..sample
            }),
            None => (recipients >= FULL_COMMIT_RECIPIENTS).then_some(Self { began, recipients }),
        }
    }
}

/// A new sample counts for a quarter, so that one slow commit changes little.
fn moving_average(known: usize, recipients: usize, took: Duration) -> usize {
    let in_time = recipients as u128 * MAX_CAMPAIGN_DELAY.as_micros() / took.as_micros().max(1);
    let new = usize::try_from(in_time).unwrap_or(MAX_QUEUED_RECIPIENTS);
    let new = new.clamp(FULL_COMMIT_RECIPIENTS, MAX_QUEUED_RECIPIENTS);
    known - known / 4 + new / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the average after `commits` commits of 3,000 recipients, each of `took_ms`.
    fn after(known: usize, commits: usize, took_ms: u64) -> usize {
        (0..commits).fold(known, |known, _| {
            moving_average(known, 3_000, Duration::from_millis(took_ms))
        })
    }

    #[test]
    fn the_limit_follows_the_rate_of_commits() {
        let table = [
            // Only memory limits a fast machine.
            (MAX_QUEUED_RECIPIENTS, 20, 10, MAX_QUEUED_RECIPIENTS),
            (MAX_QUEUED_RECIPIENTS, 20, 100, 75_000),
            (75_000, 20, 10, MAX_QUEUED_RECIPIENTS),
            // One slow commit changes little.
            (MAX_QUEUED_RECIPIENTS, 1, 5_000, 375_750),
            // The slowest machine still accepts one full commit.
            (MAX_QUEUED_RECIPIENTS, 60, 60_000, FULL_COMMIT_RECIPIENTS),
        ];
        for (known, commits, took_ms, expected) in table {
            let found = after(known, commits, took_ms);
            let off = found.abs_diff(expected);
            assert!(off <= expected / 50, "{commits} of {took_ms} ms: {found}");
        }
        assert_eq!(
            moving_average(MAX_QUEUED_RECIPIENTS, 1, Duration::ZERO),
            MAX_QUEUED_RECIPIENTS
        );
    }

    #[test]
    fn a_sample_begins_with_a_full_commit_and_holds_small_ones() {
        let began = Instant::now();
        let later = began + Duration::from_secs(1);
        assert_eq!(
            RateSample::with(None, began, FULL_COMMIT_RECIPIENTS - 1),
            None
        );
        let sample = RateSample::with(None, began, FULL_COMMIT_RECIPIENTS);
        let recipients = FULL_COMMIT_RECIPIENTS + 1;
        assert_eq!(
            RateSample::with(sample, later, 1),
            Some(RateSample { began, recipients })
        );
    }
}
