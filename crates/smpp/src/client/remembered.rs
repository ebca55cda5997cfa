//! A bounded memory of sequence numbers.

use std::collections::VecDeque;

/// How many are remembered; the oldest is forgotten first.
const MAX_REMEMBERED: usize = 4_096;

/// Sequence numbers that still matter, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Remembered(VecDeque<u32>);

impl Remembered {
    pub(super) fn insert(&mut self, sequence: u32) {
        if self.0.len() == MAX_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(sequence);
    }

    /// Forgets the number; whether it was remembered. Answers come in order mostly, so the search is short.
    pub(super) fn take(&mut self, sequence: u32) -> bool {
        let found = self.0.iter().position(|&known| known == sequence);
        found.and_then(|at| self.0.remove(at)).is_some()
    }
}
