//! The window in which requests are counted, and its bytes in the database.

use super::reservation::{Rate, Reservation, Reserved};
use super::slots::{SLOT_MS, SLOTS, WINDOW_MS, reset_s};
use std::collections::VecDeque;

/// In packed counts: another octet of the same count follows.
const MORE: u8 = 0x80;

/// Requests by slot, one more than fit into the window, for the slot that is half past. Most accounts send now and then:
/// only slots in which something was counted take room.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Window {
    /// The slots that have any, the oldest first, and how many each.
    counts: VecDeque<(i64, u32)>,
    newest: i64,
    total: u32,
}

impl Window {
    /// A window in which nothing is counted.
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

    /// Counts so many at once, or refuses them all: until there is room for them.
    pub fn count_many(&mut self, limit: u32, many: u32, now_ms: i64) -> Rate {
        self.advance(now_ms);
        let room = limit.saturating_sub(self.total);
        if room < many {
            return Rate::refused(limit, reset_s(self.room_ms(many - room), now_ms));
        }
        self.add(many);
        Rate::allowed(limit, room - many)
    }

    /// Takes back what was not used, counts who is in already, and grants as many of the wanted permits as there is room
    /// for.
    pub fn reserve(&mut self, asked: &Reservation) -> Reserved {
        self.advance(asked.now_ms);
        self.take_back(asked.unused, asked.counted_ms);
        self.add(asked.uncounted.min(u32::MAX - self.total));
        let granted = asked.wanted.min(asked.limit.saturating_sub(self.total));
        self.add(granted);
        Reserved {
            granted,
            counted_ms: self.newest * SLOT_MS,
            room: asked.limit.saturating_sub(self.total),
            reset_ms: self.reset_ms(),
        }
    }

    /// Returns whether nothing was counted for as long as a window.
    pub fn is_over(&self, now_ms: i64) -> bool {
        self.newest <= (now_ms - WINDOW_MS).div_euclid(SLOT_MS)
    }

    /// When the newest slot began, in Unix milliseconds, and the counts: from the newest slot back to the oldest
    /// that has any, each in octets of seven bits, the lowest first.
    pub fn pack(&self) -> (i64, Vec<u8>) {
        let (mut packed, mut next) = (Vec::new(), self.newest);
        for &(slot, mut count) in self.counts.iter().rev() {
            // The slots between have none.
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

    /// Unpacks what [`Window::pack`] made; `None` when it cannot have made this.
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

    /// Forgets what is older than the window. A clock set back changes nothing.
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

    /// Uncounts permits, unless their slot is past.
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

    /// When the oldest counted slot is past, Unix milliseconds.
    fn reset_ms(&self) -> i64 {
        self.room_ms(1)
    }

    /// When there is room for so many more than now, Unix milliseconds.
    fn room_ms(&self, more: u32) -> i64 {
        let mut left = more;
        let last = self.counts.iter().find(|&&(_, count)| {
            left = left.saturating_sub(count);
            left == 0
        });
        let last = last.or(self.counts.back());
        (last.map_or(self.newest, |&(slot, _)| slot) + SLOTS + 1) * SLOT_MS
    }
}
