//! The window: requests written, or about to be, and not yet answered.

use crate::frame::next_sequence;
use tokio::time::{Duration, Instant};

/// A request that waits for its response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) sequence: u32,
    /// The caller's mark.
    pub(super) tag: u64,
    /// Where in the stream its first octet stands.
    pub(super) start: u64,
    pub(super) encoded_at: Instant,
}

/// Slots found by the low bits of the sequence number: no hashing, and no growth when one response
/// stays out for long, since a sequence number whose slot is taken is simply not used.
#[derive(Debug)]
pub(super) struct Window {
    slots: Box<[Option<Entry>]>,
    limit: usize,
    open: usize,
    sequence: u32,
    /// No entry is older than this.
    oldest: Option<Instant>,
}

impl Window {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            // Twice as many slots as entries: a free one is always near.
            slots: vec![None; (limit * 2).next_power_of_two()].into(),
            limit,
            open: 0,
            sequence: 0,
            oldest: None,
        }
    }

    /// How many requests are unanswered.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// How many more may be sent.
    pub(super) fn room(&self) -> usize {
        self.limit - self.open
    }

    /// The next sequence number will be the one after this.
    pub(super) fn continue_after(&mut self, sequence: u32) {
        self.sequence = sequence;
    }

    /// The next sequence number, for a request that is not kept in the window.
    pub(super) fn next_sequence(&mut self) -> u32 {
        loop {
            self.sequence = next_sequence(self.sequence);
            if self.slots[self.slot(self.sequence)].is_none() {
                return self.sequence;
            }
        }
    }

    /// Remembers a request. Only while there is room, and with a number just given.
    pub(super) fn insert(&mut self, entry: Entry) {
        let slot = self.slot(entry.sequence);
        self.slots[slot] = Some(entry);
        self.open += 1;
        self.oldest.get_or_insert(entry.encoded_at);
    }

    /// Takes the request that this response answers.
    pub(super) fn take(&mut self, sequence: u32) -> Option<Entry> {
        let slot = self.slot(sequence);
        let entry = self.slots[slot].take_if(|entry| entry.sequence == sequence)?;
        self.open -= 1;
        if self.open == 0 {
            self.oldest = None;
        }
        Some(entry)
    }

    /// When the first time-out may be due; not later than it really is.
    pub(super) fn deadline(&self, timeout: Duration) -> Option<Instant> {
        self.oldest.map(|oldest| oldest + timeout)
    }

    /// Takes everything that waited for `timeout` or longer.
    pub(super) fn expire(&mut self, now: Instant, timeout: Duration) -> Vec<Entry> {
        let expired = self.take_if(|entry| now.duration_since(entry.encoded_at) >= timeout);
        self.oldest = self
            .slots
            .iter()
            .flatten()
            .map(|entry| entry.encoded_at)
            .min();
        expired
    }

    /// Everything waits that much longer.
    pub(super) fn postpone(&mut self, pause: Duration) {
        for entry in self.slots.iter_mut().flatten() {
            entry.encoded_at += pause;
        }
        self.oldest = self.oldest.map(|oldest| oldest + pause);
    }

    /// Takes everything.
    pub(super) fn take_all(&mut self) -> Vec<Entry> {
        self.oldest = None;
        self.take_if(|_| true)
    }

    fn take_if(&mut self, matches: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let mut taken: Vec<Entry> = self
            .slots
            .iter_mut()
            .filter_map(|slot| slot.take_if(|entry| matches(entry)))
            .collect();
        self.open -= taken.len();
        taken.sort_unstable_by_key(|entry| entry.start);
        taken
    }

    fn slot(&self, sequence: u32) -> usize {
        sequence as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(sequence: u32, encoded_at: Instant) -> Entry {
        Entry {
            sequence,
            tag: u64::from(sequence),
            start: 0,
            encoded_at,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sequence_numbers_wrap_and_go_around_an_open_request() {
        let mut window = Window::new(2);
        window.continue_after(0x7FFF_FFFD);
        let stuck = window.next_sequence();
        window.insert(entry(stuck, Instant::now()));
        let given: Vec<u32> = (0..6).map(|_| window.next_sequence()).collect();
        assert_eq!(
            given,
            [0x7FFF_FFFF, 1, 3, 4, 5, 7],
            "2 and 6 share its slot"
        );
        assert_eq!(window.take(2).map(|entry| entry.tag), None);
        assert!(window.take(stuck).is_some());
        assert_eq!(window.open(), 0);
    }
}
