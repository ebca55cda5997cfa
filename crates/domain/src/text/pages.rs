//! The cut of a text into pages (3GPP TS 23.040, 9.2.3.24.1, with the 8-bit reference).

use std::ops::Range;

/// Number of code units of a page without and with a concatenation header.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageSize {
    /// The size of a single page.
    pub(super) single: usize,
    /// The size of one of several pages.
    pub(super) multiple: usize,
}

/// The sizes in septets of the default alphabet.
pub(super) const GSM: PageSize = PageSize {
    single: 160,
    multiple: 153,
};

/// The sizes in UTF-16 code units.
pub(super) const UCS2: PageSize = PageSize {
    single: 70,
    multiple: 67,
};

/// Returns the number of pages that are sent and billed for so many code units.
pub(super) const fn count(units: usize, size: PageSize) -> usize {
    if units <= size.single {
        1
    } else {
        units.div_ceil(size.multiple)
    }
}

/// Returns the pages of a text of `units` code units. `tears` is `true` for a cut that splits a
/// pair.
///
/// There are never more pages than [`count`] returns. Within that number, as few pairs as possible
/// are split.
///
/// For each number of split pairs from zero, the algorithm computes how far the first pages can
/// reach. The first number that reaches the end is the minimum. Reaching further never hurts, since
/// a later begin of a page never makes its end earlier. Nearly every text needs one round.
pub(super) fn cut(
    units: usize,
    size: PageSize,
    tears: impl Fn(usize) -> bool,
) -> Vec<Range<usize>> {
    let pages = count(units, size);
    if pages == 1 {
        return std::iter::once(0..units).collect();
    }
    let full = |start: usize| (start + size.multiple).min(units);
    let whole = |start: usize| full(start) - usize::from(tears(full(start)));

    // `rounds[torn][page]` is the furthest end of that page, and the round of the previous page.
    let mut rounds: Vec<Vec<(usize, usize)>> = Vec::new();
    loop {
        let torn = rounds.len();
        let mut ends = Vec::with_capacity(pages);
        for page in 0..pages {
            let end_before =
                |round: &[(usize, usize)]| if page == 0 { 0 } else { round[page - 1].0 };
            let untorn = (whole(end_before(&ends)), torn);
            let one_more = rounds
                .last()
                .map(|fewer| (full(end_before(fewer)), torn - 1));
            ends.push(one_more.map_or(untorn, |one_more| untorn.max(one_more)));
        }
        let reached = ends[pages - 1].0;
        rounds.push(ends);
        if reached == units {
            return trace(&rounds, pages);
        }
    }
}

/// Returns the pages by following the rounds from the last page to the first.
fn trace(rounds: &[Vec<(usize, usize)>], pages: usize) -> Vec<Range<usize>> {
    let mut cuts = Vec::with_capacity(pages);
    let mut round = rounds.len() - 1;
    let mut ends = (0..pages).rev().map(|page| {
        let (end, before) = rounds[round][page];
        round = before;
        end
    });
    let mut end = ends.next().unwrap_or_default();
    for start in ends.chain(std::iter::once(0)) {
        cuts.push(start..end);
        end = start;
    }
    cuts.reverse();
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns where a cut splits a character, for characters of these lengths.
    fn tearing(lengths: &[usize]) -> Vec<bool> {
        let mut tears: Vec<bool> = lengths
            .iter()
            .flat_map(|&length| [false, true].into_iter().take(length))
            .collect();
        tears.push(false);
        tears
    }

    /// Returns the minimum number of splits by trying every cut.
    fn fewest(tears: &[bool], size: PageSize, start: usize, pages: usize) -> Option<usize> {
        let units = tears.len() - 1;
        if start == units {
            return Some(0);
        }
        if pages == 0 || units - start > pages * size.multiple {
            return None;
        }
        (start + 1..=(start + size.multiple).min(units))
            .filter_map(|end| Some(usize::from(tears[end]) + fewest(tears, size, end, pages - 1)?))
            .min()
    }

    proptest! {
        #[test]
        fn pages_match_the_billed_count_and_split_fewest_pairs(
            lengths in proptest::collection::vec(1usize..=2, 0..22),
        ) {
            let size = PageSize { single: 7, multiple: 5 };
            let tears = tearing(&lengths);
            let units = tears.len() - 1;
            let pages = cut(units, size, |at| tears[at]);
            prop_assert_eq!(pages.len(), count(units, size));
            prop_assert_eq!(pages[0].start, 0);
            prop_assert_eq!(pages[pages.len() - 1].end, units);
            prop_assert!(pages.windows(2).all(|two| two[0].end == two[1].start));
            if pages.len() > 1 {
                prop_assert!(pages.iter().all(|page| !page.is_empty() && page.len() <= size.multiple));
                let torn = pages.iter().filter(|page| tears[page.end]).count();
                prop_assert_eq!(Some(torn), fewest(&tears, size, 0, pages.len()));
            }
        }
    }
}
