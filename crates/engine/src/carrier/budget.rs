//! How many recipients of a carrier may be claimed and not accounted for: one window of each bind.
//!
//! A process that dies leaves at most that many in doubt.

use domain::Priority;
use std::sync::atomic::{AtomicI64, Ordering};

/// The share of the budget that one-time passwords alone may use: a campaign never fills it.
const KEPT_FOR_OTP: i64 = 10;

/// What is left of the budget.
#[derive(Debug)]
pub(crate) struct Budget {
    all: AtomicI64,
    free: AtomicI64,
}

impl Budget {
    pub(crate) fn new(recipients: usize) -> Self {
        let all = i64::try_from(recipients).unwrap_or(i64::MAX);
        Self {
            all: AtomicI64::new(all),
            free: AtomicI64::new(all),
        }
    }

    /// Changes how many may be claimed in all; what is claimed already counts.
    pub(crate) fn resize(&self, recipients: usize) {
        let all = i64::try_from(recipients).unwrap_or(i64::MAX);
        let before = self.all.swap(all, Ordering::Relaxed);
        self.free.fetch_add(all - before, Ordering::Relaxed);
    }

    fn kept_from(&self, priority: Priority) -> i64 {
        match priority {
            Priority::Otp => 0,
            Priority::Normal | Priority::Bulk => self.all.load(Ordering::Relaxed) / KEPT_FOR_OTP,
        }
    }

    /// How many recipients of that priority may be claimed now.
    pub(crate) fn room(&self, priority: Priority) -> usize {
        let free = self.free.load(Ordering::Relaxed) - self.kept_from(priority);
        usize::try_from(free).unwrap_or(0)
    }

    /// Takes room for all of so many recipients, or for none.
    pub(crate) fn try_take(&self, recipients: usize, priority: Priority) -> bool {
        let (wanted, kept) = (
            i64::try_from(recipients).unwrap_or(i64::MAX),
            self.kept_from(priority),
        );
        self.free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| {
                (free - kept >= wanted).then(|| free - wanted)
            })
            .is_ok()
    }

    /// Gives room back.
    pub(crate) fn give(&self, recipients: usize) {
        self.free
            .fetch_add(i64::try_from(recipients).unwrap_or(0), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_leaves_room_for_one_time_passwords() {
        let budget = Budget::new(100);
        assert_eq!(budget.room(Priority::Bulk), 90);
        assert!(!budget.try_take(91, Priority::Bulk));
        assert!(budget.try_take(90, Priority::Bulk));
        assert!(!budget.try_take(1, Priority::Normal));
        assert!(budget.try_take(10, Priority::Otp));
        assert!(!budget.try_take(1, Priority::Otp));
        budget.give(100);
        assert_eq!(budget.room(Priority::Otp), 100);
    }

    #[test]
    fn a_budget_that_shrinks_counts_what_is_claimed_already() {
        let budget = Budget::new(0);
        assert_eq!(budget.room(Priority::Otp), 0);
        budget.resize(100);
        assert!(budget.try_take(80, Priority::Bulk));
        budget.resize(50);
        assert_eq!(budget.room(Priority::Otp), 0);
        budget.give(80);
        assert_eq!(budget.room(Priority::Otp), 50);
        assert_eq!(budget.room(Priority::Bulk), 45);
    }

    #[test]
    fn the_smallest_window_still_has_room() {
        assert_eq!(Budget::new(1).room(Priority::Bulk), 1);
    }
}
