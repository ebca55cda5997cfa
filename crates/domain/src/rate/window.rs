//! The window in which requests are counted, and its bytes in the database.

use super::{Rate, Reservation, Reserved, reset_s};

/// How long a request counts.
const WINDOW_MS: i64 = 60_000;
/// The window is counted in slots: a request counts until the slot in which it came is wholly past, so no
/// 60 seconds ever see more than the limit, and room comes back at most one slot late.
const SLOTS: i64 = 240;
/// The length of a slot.
pub(super) const SLOT_MS: i64 = WINDOW_MS / SLOTS;
/// The longest that a request counts: it came at the beginning of its slot.
pub(super) const LONGEST_MS: i64 = WINDOW_MS + SLOT_MS;
/// Places in the ring.
const PLACES: usize = 241;
/// In packed counts: another octet of the same count follows.
const MORE: u8 = 0x80;

/// Requests by slot; the ring has one slot more than the window, for the slot that is half past.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Window {
    counts: [u32; PLACES],
    newest: i64,
    total: u32,
}

impl Window {
    /// A window in which nothing is counted.
    pub fn new(now_ms: i64) -> Self {
        Self {
            counts: [0; PLACES],
            newest: now_ms.div_euclid(SLOT_MS),
            total: 0,
        }
    }

    /// Counts a request, or refuses it.
    pub fn count(&mut self, limit: u32, now_ms: i64) -> Rate {
        self.advance(now_ms);
        let room = limit.saturating_sub(self.total);
        if room == 0 {
            Rate::refused(limit, reset_s(self.reset_ms(), now_ms))
        } else {
            self.add(1);
            Rate::allowed(limit, room - 1)
        }
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

    /// Whether nothing was counted for as long as a window.
    pub fn is_over(&self, now_ms: i64) -> bool {
        self.newest <= (now_ms - WINDOW_MS).div_euclid(SLOT_MS)
    }

    /// When the newest slot began, in Unix milliseconds, and the counts: from the newest slot back to the oldest
    /// that has any, each in octets of seven bits, the lowest first.
    pub fn pack(&self) -> (i64, Vec<u8>) {
        let (mut packed, mut left, mut slot) = (Vec::new(), self.total, self.newest);
        while left > 0 {
            let mut count = self.counts[place(slot)];
            left -= count;
            while count >= u32::from(MORE) {
                packed.push(count.to_le_bytes()[0] | MORE);
                count >>= 7;
            }
            packed.push(count.to_le_bytes()[0]);
            slot -= 1;
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
            window.counts[place(window.newest - age)] = count;
            window.total = window.total.checked_add(count)?;
        }
        Some(window)
    }

    /// Forgets what is older than the window. A clock set back changes nothing.
    fn advance(&mut self, now_ms: i64) {
        let slot = now_ms.div_euclid(SLOT_MS);
        let passed = (slot - self.newest).clamp(0, SLOTS + 1);
        for step in 1..=passed {
            let count = &mut self.counts[place(slot - passed + step)];
            self.total -= *count;
            *count = 0;
        }
        self.newest = self.newest.max(slot);
    }

    fn add(&mut self, requests: u32) {
        self.counts[place(self.newest)] += requests;
        self.total += requests;
    }

    /// Uncounts permits, unless their slot is past.
    fn take_back(&mut self, unused: u32, counted_ms: i64) {
        let slot = counted_ms.div_euclid(SLOT_MS);
        if (self.newest - SLOTS..=self.newest).contains(&slot) {
            let count = &mut self.counts[place(slot)];
            let back = unused.min(*count);
            *count -= back;
            self.total -= back;
        }
    }

    /// When the oldest counted slot is past, Unix milliseconds. It looks through all of them, which nobody needs who is
    /// let in.
    fn reset_ms(&self) -> i64 {
        let oldest = (self.newest - SLOTS..=self.newest)
            .find(|&slot| self.counts[place(slot)] > 0)
            .unwrap_or(self.newest);
        (oldest + SLOTS + 1) * SLOT_MS
    }
}

/// Where the ring holds a slot.
fn place(slot: i64) -> usize {
    usize::try_from(slot.rem_euclid(SLOTS + 1)).unwrap_or_default()
}
