//! The in-flight window: unanswered requests.

use crate::frame::next_sequence;
use tokio::time::{Duration, Instant};

/// An unanswered request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) sequence: u32,
    /// The tag of the submit.
    pub(super) tag: u64,
    /// The position of its first octet in the output.
    pub(super) start: u64,
    pub(super) encoded_at: Instant,
}

/// A hash table by the low bits of the sequence number. A sequence number whose slot is taken is
/// skipped, so one late response never lets the table grow.
#[derive(Debug)]
pub(super) struct Window {
    slots: Box<[Option<Entry>]>,
    limit: usize,
    open: usize,
    sequence: u32,
    /// A lower bound of the times of all entries.
    oldest: Option<Instant>,
}

impl Window {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            // There are twice as many slots as entries, so that a free one is always near.
            slots: vec![None; (limit * 2).next_power_of_two()].into(),
            limit,
            open: 0,
            sequence: 0,
            oldest: None,
        }
    }

    /// Returns the number of unanswered requests.
    pub(super) fn open(&self) -> usize {
        self.open
    }

    /// Returns how many further requests may be sent.
    pub(super) fn available(&self) -> usize {
        self.limit - self.open
    }

    /// Sets the last used sequence number.
    pub(super) fn continue_after(&mut self, sequence: u32) {
        self.sequence = sequence;
    }

    /// Returns the next sequence number, for a request outside of the window.
    pub(super) fn next_sequence(&mut self) -> u32 {
        loop {
            self.sequence = next_sequence(self.sequence);
            if self.slots[self.slot(self.sequence)].is_none() {
                return self.sequence;
            }
        }
    }

    /// Adds a request. The window must not be full, and the sequence number must be the last one
    /// returned.
    pub(super) fn insert(&mut self, entry: Entry) {
        let slot = self.slot(entry.sequence);
        self.slots[slot] = Some(entry);
        self.open += 1;
        self.oldest.get_or_insert(entry.encoded_at);
    }

    /// Takes the request with this sequence number.
    pub(super) fn take(&mut self, sequence: u32) -> Option<Entry> {
        let slot = self.slot(sequence);
        let entry = self.slots[slot].take_if(|entry| entry.sequence == sequence)?;
        self.open -= 1;
        if self.open == 0 {
            self.oldest = None;
        }
        Some(entry)
    }

    /// Returns a time at or before the first timeout.
    pub(super) fn deadline(&self, timeout: Duration) -> Option<Instant> {
        self.oldest.map(|oldest| oldest + timeout)
    }

    /// Takes all requests that waited for `timeout` or longer.
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

    /// Extends the timeouts of all requests by a pause.
    pub(super) fn postpone(&mut self, pause: Duration) {
        for entry in self.slots.iter_mut().flatten() {
            entry.encoded_at += pause;
        }
        self.oldest = self.oldest.map(|oldest| oldest + pause);
    }

    /// Takes all requests.
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
