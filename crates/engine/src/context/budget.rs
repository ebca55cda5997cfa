//! How many recipients of a carrier may be claimed and not accounted for: a window and a half of each bind.
//!
//! A process that dies leaves at most that many in doubt.

use domain::Priority;
use std::sync::atomic::{AtomicI64, Ordering};

/// The share of the budget that one-time passwords alone may use: a campaign never fills it.
const KEPT_FOR_OTP: i64 = 10;

/// The recipients claimed beyond the windows, as a share of them: a half. It follows at once when a response makes room,
/// while what came back and the next claim are being committed.
const AHEAD: usize = 2;
/// The share of the budget that is worth a claim while others wait in hand.
const PORTION: i64 = 20;
/// The share of the budget that those may hold of whom a page was taken and another has to wait: others go on.
const HELD: i64 = 4;

/// The rest of the budget.
#[derive(Debug)]
pub(crate) struct Budget {
    all: AtomicI64,
    free: AtomicI64,
}

impl Budget {
    /// For windows of so many places in all.
    pub(crate) fn new(places: usize) -> Self {
        let all = claimable(places);
        Self {
            all: AtomicI64::new(all),
            free: AtomicI64::new(all),
        }
    }

    /// Changes how many places there are in all; what is claimed already counts.
    pub(crate) fn resize(&self, places: usize) {
        let all = claimable(places);
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

    /// How much room is worth a claim while others wait in hand: each claim that splits a batch writes the rest anew.
    pub(crate) fn portion(&self) -> usize {
        let portion = self.all.load(Ordering::Relaxed) / PORTION;
        usize::try_from(portion).unwrap_or(0).max(1)
    }

    /// How many may stay in hand while they wait for a time.
    pub(crate) fn held(&self) -> usize {
        usize::try_from(self.all.load(Ordering::Relaxed) / HELD).unwrap_or(0)
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

/// How many may be claimed where the windows have so many places.
fn claimable(places: usize) -> i64 {
    i64::try_from(places + places / AHEAD).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_leaves_room_for_one_time_passwords() {
        let budget = Budget::new(100);
        assert_eq!(budget.room(Priority::Bulk), 135);
        assert!(!budget.try_take(136, Priority::Bulk));
        assert!(budget.try_take(135, Priority::Bulk));
        assert!(!budget.try_take(1, Priority::Normal));
        assert!(budget.try_take(15, Priority::Otp));
        assert!(!budget.try_take(1, Priority::Otp));
        budget.give(150);
        assert_eq!(budget.room(Priority::Otp), 150);
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
        assert_eq!(budget.room(Priority::Otp), 75);
        assert_eq!(budget.room(Priority::Bulk), 68);
    }

    #[test]
    fn the_smallest_window_still_has_room() {
        assert_eq!(Budget::new(1).room(Priority::Bulk), 1);
    }
}
