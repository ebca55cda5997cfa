//! The requests of a server that the client has not answered.

use super::state::deadline;
use crate::frame::next_sequence;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// The items of all unanswered `deliver_sm`.
#[derive(Debug)]
pub(super) struct Unanswered<T> {
    items: HashMap<u32, T>,
    /// The deadlines of the items, earliest first. Some items may be answered already.
    deadlines: VecDeque<(Instant, u32)>,
    /// The timeout. Zero is none.
    timeout: Duration,
    last_sequence: u32,
}

impl<T> Unanswered<T> {
    pub(super) fn new(timeout: Duration) -> Self {
        Self {
            items: HashMap::new(),
            deadlines: VecDeque::new(),
            timeout,
            last_sequence: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns a sequence number without an open request.
    pub(super) fn next_sequence(&mut self) -> u32 {
        loop {
            self.last_sequence = next_sequence(self.last_sequence);
            if !self.items.contains_key(&self.last_sequence) {
                return self.last_sequence;
            }
        }
    }

    pub(super) fn insert(&mut self, sequence: u32, item: T, now: Instant) {
        self.items.insert(sequence, item);
        if let Some(deadline) = self.deadline_from(now) {
            self.deadlines.push_back((deadline, sequence));
        }
    }

    pub(super) fn take(&mut self, sequence: u32) -> Option<T> {
        let item = self.items.remove(&sequence)?;
        while let Some((_, first)) = self.deadlines.front()
            && !self.items.contains_key(first)
        {
            self.deadlines.pop_front();
        }
        Some(item)
    }

    /// Returns the deadline of a request that is sent now.
    pub(super) fn deadline_from(&self, now: Instant) -> Option<Instant> {
        deadline(now, self.timeout)
    }

    /// Returns the first deadline.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.front().map(|(deadline, _)| *deadline)
    }

    /// Takes the items whose deadline has passed.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<T> {
        let mut expired = Vec::new();
        while let Some(&(deadline, sequence)) = self.deadlines.front()
            && deadline <= now
        {
            self.deadlines.pop_front();
            expired.extend(self.items.remove(&sequence));
        }
        expired
    }

    /// Takes all items, in the order of their sequence numbers.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        self.deadlines.clear();
        let mut all: Vec<(u32, T)> = self.items.drain().collect();
        all.sort_unstable_by_key(|(sequence, _)| *sequence);
        all.into_iter().map(|(_, item)| item).collect()
    }
}
