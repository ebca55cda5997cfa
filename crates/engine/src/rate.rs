//! Rate limits: true sliding windows of 60 seconds, per account, environment and kind of request.

use domain::{AccountId, Environment, Refusal};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What is counted apart.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum RateKind {
    /// Sends.
    Send,
    /// Delivery reports.
    Report,
    /// Balance, sender IDs, account.
    Read,
}

/// What the limit says to one request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rate {
    /// Requests allowed in any 60 seconds.
    pub limit: u32,
    /// How many more are allowed now.
    pub remaining: u32,
    /// In how many seconds there is room again, or the window is empty again.
    pub reset_s: u64,
    /// The refusal, when this request was one too many.
    pub refused: Option<Refusal>,
}

const WINDOW_MS: i64 = 60_000;
/// The window is counted in slots: a request counts until the slot in which it came is wholly past, so no
/// 60 seconds ever see more than the limit, and room comes back at most one slot late.
const SLOTS: i64 = 240;
const SLOT_MS: i64 = WINDOW_MS / SLOTS;
/// Places in the ring.
const PLACES: usize = 241;
/// Windows kept; the oldest go when there are more.
const MOST_WINDOWS: usize = 100_000;

/// Requests by slot; the ring has one slot more than the window, for the slot that is half past.
struct Window {
    counts: [u32; PLACES],
    newest: i64,
    total: u32,
}

impl Window {
    fn new(now_ms: i64) -> Self {
        Self {
            counts: [0; PLACES],
            newest: now_ms.div_euclid(SLOT_MS),
            total: 0,
        }
    }

    fn place(slot: i64) -> usize {
        usize::try_from(slot.rem_euclid(SLOTS + 1)).unwrap_or_default()
    }

    /// Forgets what is older than the window. A clock set back changes nothing.
    fn advance(&mut self, now_ms: i64) {
        let slot = now_ms.div_euclid(SLOT_MS);
        let passed = (slot - self.newest).clamp(0, SLOTS + 1);
        for step in 1..=passed {
            let count = &mut self.counts[Self::place(slot - passed + step)];
            self.total -= *count;
            *count = 0;
        }
        self.newest = self.newest.max(slot);
    }

    /// Milliseconds until the oldest counted slot is past.
    fn reset_ms(&self, now_ms: i64) -> i64 {
        let oldest = (self.newest - SLOTS..=self.newest)
            .find(|&slot| self.counts[Self::place(slot)] > 0)
            .unwrap_or(self.newest);
        ((oldest + SLOTS + 1) * SLOT_MS - now_ms).clamp(0, WINDOW_MS + SLOT_MS)
    }

    fn count(&mut self, limit: u32, now_ms: i64) -> Rate {
        self.advance(now_ms);
        let seconds = |ms: i64| ms.unsigned_abs().div_ceil(1_000).max(1);
        if self.total >= limit {
            let reset_s = seconds(self.reset_ms(now_ms));
            let refused = Some(Refusal::RateLimited {
                limit,
                retry_after_s: reset_s,
            });
            return Rate {
                limit,
                remaining: 0,
                reset_s,
                refused,
            };
        }
        self.counts[Self::place(self.newest)] += 1;
        self.total += 1;
        let reset_s = seconds(self.reset_ms(now_ms));
        Rate {
            limit,
            remaining: limit - self.total,
            reset_s,
            refused: None,
        }
    }
}

/// All windows.
#[derive(Default)]
pub(crate) struct Rates {
    windows: Mutex<HashMap<(AccountId, Environment, RateKind), Box<Window>>>,
}

impl Rates {
    /// Counts a request, or refuses it.
    pub(crate) fn count(
        &self,
        account: AccountId,
        environment: Environment,
        kind: RateKind,
        limit: u32,
        now_ms: i64,
    ) -> Rate {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MOST_WINDOWS {
            let oldest = (now_ms - WINDOW_MS).div_euclid(SLOT_MS);
            windows.retain(|_, window| window.newest > oldest);
        }
        windows
            .entry((account, environment, kind))
            .or_insert_with(|| Box::new(Window::new(now_ms)))
            .count(limit, now_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: AccountId = AccountId(1);

    fn allowed(rates: &Rates, limit: u32, now_ms: i64) -> bool {
        let rate = rates.count(ACCOUNT, Environment::Live, RateKind::Send, limit, now_ms);
        rate.refused.is_none()
    }

    #[test]
    fn no_sixty_seconds_see_more_than_the_limit() {
        let (rates, limit) = (Rates::default(), 10);
        let mut granted = Vec::new();
        for now in (0..400_000).step_by(137) {
            if allowed(&rates, limit, now) {
                granted.push(now);
            }
        }
        for &start in &granted {
            let within = granted
                .iter()
                .filter(|&&at| (start..start + WINDOW_MS).contains(&at))
                .count();
            assert!(within <= 10, "{within} from {start}");
        }
        // A full window is granted again and again, at most a slot late.
        assert!(granted.len() >= 10 * 6, "{}", granted.len());
    }

    #[test]
    fn a_refusal_says_when_there_is_room() {
        let rates = Rates::default();
        assert!(allowed(&rates, 1, 1_000));
        let rate = rates.count(ACCOUNT, Environment::Live, RateKind::Send, 1, 31_000);
        assert_eq!((rate.remaining, rate.reset_s), (0, 31));
        assert!(!allowed(&rates, 1, 60_999));
        assert!(allowed(&rates, 1, 61_251));
    }

    #[test]
    fn environments_and_kinds_are_counted_apart() {
        let rates = Rates::default();
        let count = |environment, kind| {
            rates
                .count(ACCOUNT, environment, kind, 1, 0)
                .refused
                .is_none()
        };
        assert!(count(Environment::Live, RateKind::Send));
        assert!(!count(Environment::Live, RateKind::Send));
        assert!(count(Environment::Sandbox, RateKind::Send));
        assert!(count(Environment::Live, RateKind::Read));
    }

    #[test]
    fn a_clock_set_back_neither_frees_nor_blocks_for_longer_than_the_window() {
        let rates = Rates::default();
        assert!(allowed(&rates, 1, 10_000_000));
        assert!(!allowed(&rates, 1, 1_000));
        assert!(allowed(&rates, 1, 10_061_000));
    }
}
