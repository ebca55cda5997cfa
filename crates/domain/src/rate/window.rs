//! A sliding window of requests, and its stored form.

use super::reservation::{Rate, Reservation, Reserved};
use super::slots::{SLOT_MS, SLOTS, WINDOW_MS, reset_s};
use std::collections::VecDeque;

/// The bit of an octet that marks another octet of the packed count.
const MORE: u8 = 0x80;

/// A sliding window of requests. It has one slot more than 60 seconds have, because its oldest slot
/// has expired only in part. Only slots with requests are stored, since most accounts send rarely.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Window {
    /// The slots with requests, oldest first, with their counts.
    counts: VecDeque<(i64, u32)>,
    newest: i64,
    total: u32,
}

impl Window {
    /// Creates an empty window.
    pub fn new(now_ms: i64) -> Self {
        Self {
            counts: VecDeque::new(),
            newest: now_ms.div_euclid(SLOT_MS),
            total: 0,
        }
    }

    /// Counts a request, or refuses it.
    pub fn count(&mut self, limit: u32, now_ms: i64) -> Rate {
        self.count_many(limit, 1, now_ms)
    }

    /// Counts `many` requests together, or refuses all of them.
    pub fn count_many(&mut self, limit: u32, many: u32, now_ms: i64) -> Rate {
        self.advance(now_ms);
        let remaining = limit.saturating_sub(self.total);
        if remaining < many {
            return Rate::refused(limit, reset_s(self.free_at_ms(many - remaining), now_ms));
        }
        self.add(many);
        Rate::allowed(limit, remaining - many)
    }

    /// Takes unused permits back, counts uncounted requests, and grants as many permits as the
    /// limit allows.
    pub fn reserve(&mut self, asked: &Reservation) -> Reserved {
        self.advance(asked.now_ms);
        self.take_back(asked.unused, asked.counted_ms);
        self.add(asked.uncounted.min(u32::MAX - self.total));
        let granted = asked.wanted.min(asked.limit.saturating_sub(self.total));
        self.add(granted);
        Reserved {
            granted,
            counted_ms: self.newest * SLOT_MS,
            remaining: asked.limit.saturating_sub(self.total),
            reset_ms: self.reset_ms(),
        }
    }

    /// Returns `true` if nothing was counted for the length of a window.
    pub fn is_over(&self, now_ms: i64) -> bool {
        self.newest <= (now_ms - WINDOW_MS).div_euclid(SLOT_MS)
    }

    /// Returns the begin of the newest slot in Unix milliseconds, and the packed counts from there
    /// back to the oldest one. Each count has octets of seven bits, lowest first.
    pub fn pack(&self) -> (i64, Vec<u8>) {
        let (mut packed, mut next) = (Vec::new(), self.newest);
        for &(slot, mut count) in self.counts.iter().rev() {
            // The slots between two counts are empty.
            packed.extend((slot..next).map(|_| 0));
            while count >= u32::from(MORE) {
                packed.push(count.to_le_bytes()[0] | MORE);
                count >>= 7;
            }
            packed.push(count.to_le_bytes()[0]);
            next = slot - 1;
        }
        (self.newest * SLOT_MS, packed)
    }

    /// Unpacks the result of [`Window::pack`], or returns `None` if it is malformed.
    pub fn unpack(newest_ms: i64, packed: &[u8]) -> Option<Self> {
        let mut window = Self::new(newest_ms);
        let counts = packed.chunk_by(|&octet, _| octet & MORE != 0);
        for (octets, age) in counts.zip(0..) {
            if age > SLOTS {
                return None;
            }
            let mut digits = octets.iter().rev();
            let count = digits.try_fold(0_u32, |count, &octet| {
                count
                    .checked_mul(u32::from(MORE))?
                    .checked_add(u32::from(octet & !MORE))
            })?;
            if count > 0 {
                window.counts.push_front((window.newest - age, count));
            }
            window.total = window.total.checked_add(count)?;
        }
        Some(window)
    }

    /// Removes expired slots. A clock that was set back changes nothing.
    fn advance(&mut self, now_ms: i64) {
        self.newest = self.newest.max(now_ms.div_euclid(SLOT_MS));
        while let Some(&(slot, count)) = self.counts.front()
            && slot < self.newest - SLOTS
        {
            self.counts.pop_front();
            self.total -= count;
        }
    }

    fn add(&mut self, requests: u32) {
        if requests == 0 {
            return;
        }
        self.total += requests;
        match self.counts.back_mut() {
            Some((slot, count)) if *slot == self.newest => *count += requests,
            _ => self.counts.push_back((self.newest, requests)),
        }
    }

    /// Takes unused permits back, unless their slot has expired.
    fn take_back(&mut self, unused: u32, counted_ms: i64) {
        let counted = counted_ms.div_euclid(SLOT_MS);
        let found = self
            .counts
            .binary_search_by_key(&counted, |&(slot, _)| slot);
        if let Ok(at) = found {
            let count = &mut self.counts[at].1;
            let back = unused.min(*count);
            *count -= back;
            self.total -= back;
            if *count == 0 {
                self.counts.remove(at);
            }
        }
    }

    /// Returns the time at which the oldest counted slot expires, Unix milliseconds.
    fn reset_ms(&self) -> i64 {
        self.free_at_ms(1)
    }

    /// Returns the time from which `more` further requests are allowed, Unix milliseconds.
    fn free_at_ms(&self, more: u32) -> i64 {
        let mut left = more;
        let last = self.counts.iter().find(|&&(_, count)| {
            left = left.saturating_sub(count);
            left == 0
        });
        let last = last.or(self.counts.back());
        (last.map_or(self.newest, |&(slot, _)| slot) + SLOTS + 1) * SLOT_MS
    }
}
