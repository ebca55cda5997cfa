//! The index of recipients: sorted runs of postings, as in a log-structured merge tree.
//!
//! A run covers a span of acceptance times. A posting is a fingerprint of a recipient and a unit of
//! time in which a message to it was accepted. It has six octets, so an answer is a candidate that
//! the reader checks.

use crate::number::recipient::Recipient;

/// Size of a posting in octets.
const POSTING_OCTETS: usize = 6;
/// Bits of a posting that are the unit of time. The others are the fingerprint.
const UNIT_BITS: u32 = 26;
const FINGERPRINT_BITS: u32 = 22;
/// Postings in a row. SQLite puts a longer row on a page of its own.
const ROW_POSTINGS: usize = 160;
/// The recipients from which runs are not merged any more, smallest merge first.
const MERGED_RECIPIENTS: [u64; 2] = [65_536, 1_048_576];
/// The number of runs that are merged even if they are small together.
const MERGED_RUNS: usize = 16;
/// Maximum number of runs of one merge.
const MAX_MERGED_RUNS: usize = 64;
/// Age of a run from which it is merged. A merge reads the messages again, so it includes those
/// that were committed late.
const MERGED_AFTER_MS: i64 = 600_000;

/// The time that a run covers, and the length of its units of time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RunTimes {
    /// The beginning, Unix milliseconds.
    pub from_ms: i64,
    /// The end, which does not belong to it.
    pub until_ms: i64,
    /// The length of a unit.
    pub unit_ms: i64,
}

/// A run, as far as a merge needs it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RunSize {
    /// The id.
    pub id: i64,
    /// The time that it covers.
    pub times: RunTimes,
    /// The number of its postings.
    pub recipients: u64,
}

/// A row of a run: its lowest posting, and all of its postings in ascending order.
pub type PostingRow = (i64, Vec<u8>);

impl RunTimes {
    /// Returns the times of a run from one moment to another, with the shortest units that fit.
    pub fn new(from_ms: i64, until_ms: i64) -> Self {
        Self {
            from_ms,
            until_ms,
            unit_ms: ((until_ms - from_ms) >> UNIT_BITS) + 1,
        }
    }

    /// Returns the posting of a message to a recipient.
    pub fn posting(&self, recipient: Recipient, accepted_at_ms: i64) -> i64 {
        let unit = (accepted_at_ms - self.from_ms) / self.unit_ms;
        fingerprint(recipient) << UNIT_BITS | unit
    }

    /// Returns the units of time, newest first, in which a row has a recipient.
    pub fn units(&self, recipient: Recipient, postings: &[u8]) -> Vec<(i64, i64)> {
        let (from, until) = postings_of(recipient);
        let found = postings.chunks_exact(POSTING_OCTETS).map(read);
        let found = found.filter(|posting| (from..until).contains(posting));
        let mut units: Vec<(i64, i64)> = found
            .map(|posting| {
                let begin = self.from_ms + (posting - from) * self.unit_ms;
                (begin, (begin + self.unit_ms).min(self.until_ms))
            })
            .collect();
        units.reverse();
        units
    }
}

/// Returns the range of the postings of a recipient.
pub fn postings_of(recipient: Recipient) -> (i64, i64) {
    let fingerprint = fingerprint(recipient);
    (fingerprint << UNIT_BITS, (fingerprint + 1) << UNIT_BITS)
}

/// Returns the rows of a run from its postings.
pub fn pack(mut postings: Vec<i64>) -> Vec<PostingRow> {
    postings.sort_unstable();
    postings.dedup();
    let rows = postings.chunks(ROW_POSTINGS).map(|row| {
        let mut packed = Vec::with_capacity(row.len() * POSTING_OCTETS);
        for posting in row {
            packed.extend_from_slice(&posting.to_be_bytes()[8 - POSTING_OCTETS..]);
        }
        (row.first().copied().unwrap_or_default(), packed)
    });
    rows.collect()
}

/// Returns the runs to merge next, if any. The runs are in the order of their times.
pub fn next_merge(runs: &[RunSize], now_ms: i64) -> Option<&[RunSize]> {
    let is_old = |run: &&RunSize| run.times.until_ms + MERGED_AFTER_MS <= now_ms;
    let old = &runs[..runs.iter().take_while(is_old).count()];
    MERGED_RECIPIENTS.iter().find_map(|&enough| {
        old.split(|run| run.recipients >= enough).find_map(|small| {
            let mut sum = 0;
            let count = small.iter().take(MAX_MERGED_RUNS).take_while(|run| {
                let is_taken = sum < enough;
                sum += run.recipients;
                is_taken
            });
            let merged = &small[..count.count()];
            let sum: u64 = merged.iter().map(|run| run.recipients).sum();
            let is_worth = merged.len() >= MERGED_RUNS || merged.len() > 1 && sum >= enough;
            is_worth.then_some(merged)
        })
    })
}

/// Returns the fingerprint of a recipient (`SplitMix64`). It must never change.
fn fingerprint(recipient: Recipient) -> i64 {
    let mut mixed = recipient.digits().wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let high = (mixed ^ (mixed >> 31)) >> (64 - FINGERPRINT_BITS);
    i64::try_from(high).unwrap_or_default()
}

fn read(posting: &[u8]) -> i64 {
    let octets = posting.iter();
    octets.fold(0, |value, &octet| (value << 8) | i64::from(octet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn runs(sizes: &[u64]) -> Vec<RunSize> {
        let run = |(id, &recipients): (i64, &u64)| RunSize {
            id,
            times: RunTimes::new(1_000 * id, 1_000 * (id + 1)),
            recipients,
        };
        (0..).zip(sizes).map(run).collect()
    }

    fn merged(sizes: &[u64], now_ms: i64) -> Option<(i64, usize)> {
        let runs = runs(sizes);
        let merged = next_merge(&runs, now_ms)?;
        Some((merged[0].id, merged.len()))
    }

    proptest! {
        #[test]
        fn a_recipient_is_found_at_each_time_of_its_messages(
            from_ms in 0..2_000_000_000_000_i64,
            span_ms in 1..200_000_000_000_i64,
            sent in proptest::collection::vec((0..40_u64, 0.0..1.0_f64), 1..600),
        ) {
            let times = RunTimes::new(from_ms, from_ms + span_ms);
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a place in the span")]
            let at = |place: f64| from_ms + (place * (span_ms - 1) as f64) as i64;
            let to = |digits| Recipient::from_digits(2_348_030_000_000 + digits);
            let postings = sent.iter().map(|&(digits, place)| times.posting(to(digits), at(place)));
            let rows = pack(postings.collect());
            prop_assert!(rows.is_sorted());
            for &(digits, place) in &sent {
                let (from, until) = postings_of(to(digits));
                let first = rows.iter().rposition(|row| row.0 <= from).unwrap_or(0);
                let near = rows[first..].iter().take_while(|row| row.0 < until);
                let units: Vec<_> = near.flat_map(|row| times.units(to(digits), &row.1)).collect();
                let (at_ms, end_ms) = (at(place), from_ms + span_ms);
                prop_assert!(units.iter().any(|(from, until)| (*from..*until).contains(&at_ms)));
                prop_assert!(units.iter().all(|(from, until)| from < until && *until <= end_ms));
            }
        }
    }

    #[test]
    fn fingerprints_do_not_change() {
        let number = Recipient::from_digits(2_348_031_234_567);
        assert_eq!(fingerprint(number), fingerprint(number));
        assert!(fingerprint(number) < 1 << FINGERPRINT_BITS);
        assert_ne!(fingerprint(number), fingerprint(Recipient::from_digits(1)));
    }

    #[test]
    fn sixteen_small_runs_are_merged_once_they_are_old() {
        let old = 10_000_000;
        assert_eq!(merged(&[4_000; 15], old), None);
        assert_eq!(merged(&[3_000; 16], old), Some((0, 16)));
        assert_eq!(merged(&[3_000; 16], MERGED_AFTER_MS + 15_999), None);
    }

    #[test]
    fn a_merge_ends_when_it_has_enough_recipients() {
        let old = 10_000_000;
        assert_eq!(merged(&[40_000, 40_000, 40_000], old), Some((0, 2)));
        assert_eq!(merged(&[70_000, 100, 70_000], old), None);
        assert_eq!(merged(&[70_000; 16], old), Some((0, 15)));
        assert_eq!(merged(&[2_000_000; 100], old), None);
        assert_eq!(merged(&[2_000_000, 600_000, 600_000], old), Some((1, 2)));
    }
}
