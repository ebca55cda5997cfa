//! The limit of questions about a payment that visitors of its return page cause.

use super::id::TopUpId;
use std::collections::HashMap;

/// A provider is asked for a top-up at most once in this time.
const INTERVAL_MS: i64 = 1_000;
/// Maximum number of top-ups that are remembered. While there are more, no other is asked for.
const MAX_CHECKS: usize = 10_000;

/// The top-ups whose provider was asked a moment ago.
#[derive(Debug, Default)]
pub struct RecentChecks(HashMap<TopUpId, i64>);

impl RecentChecks {
    /// Returns `true` if the provider may be asked now, and remembers that it was.
    pub fn begin(&mut self, id: TopUpId, now_ms: i64) -> bool {
        // A clock that was set back makes a check old as well.
        let is_recent = |at_ms: i64| (0..INTERVAL_MS).contains(&(now_ms - at_ms));
        if self.0.get(&id).is_some_and(|at_ms| is_recent(*at_ms)) {
            return false;
        }
        if self.0.len() >= MAX_CHECKS {
            self.0.retain(|_, at_ms| is_recent(*at_ms));
        }
        if self.0.len() >= MAX_CHECKS {
            return false;
        }
        self.0.insert(id, now_ms);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> TopUpId {
        TopUpId::from_number(u128::try_from(number).unwrap())
    }

    #[test]
    fn a_top_up_is_asked_for_once_a_second() {
        let mut checks = RecentChecks::default();
        for (now_ms, expected) in [
            (5_000, true),
            (5_000, false),
            (5_999, false),
            (6_000, true),
            (6_500, false),
            // The clock is set back.
            (5_500, true),
            (5_501, false),
        ] {
            assert_eq!(checks.begin(id(1), now_ms), expected, "{now_ms}");
        }
        assert!(checks.begin(id(2), 5_501), "another one is not limited");
    }

    #[test]
    fn a_full_memory_asks_for_no_other_top_up_until_it_is_free() {
        let mut checks = RecentChecks::default();
        for number in 0..MAX_CHECKS {
            assert!(checks.begin(id(number), 0));
        }
        assert!(!checks.begin(id(MAX_CHECKS), INTERVAL_MS - 1));
        assert!(checks.begin(id(MAX_CHECKS), INTERVAL_MS));
        assert_eq!(checks.0.len(), 1);
    }
}
