//! The claim budget of a carrier: at most one and a half in-flight windows of claimed recipients
//! per connection.
//!
//! A crash leaves at most that many recipients in doubt.

use domain::Priority;
use std::sync::atomic::{AtomicI64, Ordering};

/// Divisor for the part of the budget that only one-time passwords may use, so that a campaign
/// cannot fill all of it.
const OTP_RESERVE_DIVISOR: i64 = 10;

/// Divisor for the recipients claimed beyond the windows. They are submitted as soon as a response
/// frees the window, while the database commits outcomes and the next claim.
const CLAIM_AHEAD_DIVISOR: usize = 2;
/// Divisor for the smallest claim that is made while other recipients wait in memory.
const MIN_CLAIM_DIVISOR: i64 = 20;
/// Divisor for the part of the budget that delayed recipients may occupy, so that they cannot block
/// other messages.
const MAX_DELAYED_DIVISOR: i64 = 4;

/// The total and the free part of the budget.
#[derive(Debug)]
pub(crate) struct Budget {
    all: AtomicI64,
    free: AtomicI64,
}

impl Budget {
    /// Creates the budget for windows of `window` submits in total.
    pub(crate) fn new(window: usize) -> Self {
        let all = claimable(window);
        Self {
            all: AtomicI64::new(all),
            free: AtomicI64::new(all),
        }
    }

    /// Changes the total size of the windows. Existing claims stay counted.
    pub(crate) fn resize(&self, window: usize) {
        let all = claimable(window);
        let before = self.all.swap(all, Ordering::Relaxed);
        self.free.fetch_add(all - before, Ordering::Relaxed);
    }

    fn otp_reserve(&self, priority: Priority) -> i64 {
        match priority {
            Priority::Otp => 0,
            Priority::Normal | Priority::Bulk => {
                self.all.load(Ordering::Relaxed) / OTP_RESERVE_DIVISOR
            }
        }
    }

    /// Returns how many recipients of that priority may be claimed now.
    pub(crate) fn available(&self, priority: Priority) -> usize {
        let free = self.free.load(Ordering::Relaxed) - self.otp_reserve(priority);
        usize::try_from(free).unwrap_or(0)
    }

    /// Returns the smallest claim that is made while other recipients wait. Each claim that splits
    /// a batch rewrites the rest of it, so tiny claims are expensive.
    pub(crate) fn min_claim(&self) -> usize {
        let min_claim = self.all.load(Ordering::Relaxed) / MIN_CLAIM_DIVISOR;
        usize::try_from(min_claim).unwrap_or(0).max(1)
    }

    /// Returns how many recipients may be delayed in memory.
    pub(crate) fn max_delayed(&self) -> usize {
        usize::try_from(self.all.load(Ordering::Relaxed) / MAX_DELAYED_DIVISOR).unwrap_or(0)
    }

    /// Takes capacity for all recipients, or for none.
    pub(crate) fn try_take(&self, recipients: usize, priority: Priority) -> bool {
        let (wanted, reserve) = (
            i64::try_from(recipients).unwrap_or(i64::MAX),
            self.otp_reserve(priority),
        );
        self.free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
                (free - reserve >= wanted).then(|| free - wanted)
            })
            .is_ok()
    }

    /// Returns capacity.
    pub(crate) fn put(&self, recipients: usize) {
        self.free
            .fetch_add(i64::try_from(recipients).unwrap_or(0), Ordering::Relaxed);
    }
}

/// Returns the budget for a total window size.
fn claimable(window: usize) -> i64 {
    i64::try_from(window + window / CLAIM_AHEAD_DIVISOR).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_leaves_capacity_for_one_time_passwords() {
        let budget = Budget::new(100);
        assert_eq!(budget.available(Priority::Bulk), 135);
        assert!(!budget.try_take(136, Priority::Bulk));
        assert!(budget.try_take(135, Priority::Bulk));
        assert!(!budget.try_take(1, Priority::Normal));
        assert!(budget.try_take(15, Priority::Otp));
        assert!(!budget.try_take(1, Priority::Otp));
        budget.put(150);
        assert_eq!(budget.available(Priority::Otp), 150);
    }

    #[test]
    fn a_smaller_budget_still_counts_existing_claims() {
        let budget = Budget::new(0);
        assert_eq!(budget.available(Priority::Otp), 0);
        budget.resize(100);
        assert!(budget.try_take(80, Priority::Bulk));
        budget.resize(50);
        assert_eq!(budget.available(Priority::Otp), 0);
        budget.put(80);
        assert_eq!(budget.available(Priority::Otp), 75);
        assert_eq!(budget.available(Priority::Bulk), 68);
    }

    #[test]
    fn the_smallest_window_has_capacity_for_one() {
        assert_eq!(Budget::new(1).available(Priority::Bulk), 1);
    }
}
