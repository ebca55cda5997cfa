//! The claim budget of a carrier: the recipients that are claimed and have no durable outcome.
//!
//! A recipient leaves the budget when its outcome is durable, which is later than its response. A
//! budget of one window would leave a small window idle during each commit. A crash leaves at most
//! the whole budget in doubt.

use domain::Priority;
use std::sync::atomic::{AtomicI64, Ordering};

/// Divisor for the part of the budget that only one-time passwords may use, so that a campaign
/// cannot fill all of it.
const OTP_RESERVE_DIVISOR: i64 = 10;

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
    /// Creates a budget of `recipients`.
    pub(crate) fn new(recipients: usize) -> Self {
        let all = i64::try_from(recipients).unwrap_or(i64::MAX);
        Self {
            all: AtomicI64::new(all),
            free: AtomicI64::new(all),
        }
    }

    /// Changes the size of the budget. Existing claims stay counted.
    pub(crate) fn resize(&self, recipients: usize) {
        let all = i64::try_from(recipients).unwrap_or(i64::MAX);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_leaves_capacity_for_one_time_passwords() {
        let budget = Budget::new(150);
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
        budget.resize(150);
        assert!(budget.try_take(80, Priority::Bulk));
        budget.resize(75);
        assert_eq!(budget.available(Priority::Otp), 0);
        budget.put(80);
        assert_eq!(budget.available(Priority::Otp), 75);
        assert_eq!(budget.available(Priority::Bulk), 68);
    }

    #[test]
    fn the_smallest_budget_has_capacity_for_one() {
        assert_eq!(Budget::new(1).available(Priority::Bulk), 1);
    }
}
