//! A bounded set of sequence numbers.

use std::collections::VecDeque;

/// Maximum number of entries. The oldest one is removed first.
const MAX_ENTRIES: usize = 4_096;

/// Sequence numbers in the order of arrival.
#[derive(Debug, Default)]
pub(super) struct SequenceSet(VecDeque<u32>);

impl SequenceSet {
    pub(super) fn insert(&mut self, sequence: u32) {
        if self.0.len() == MAX_ENTRIES {
            self.0.pop_front();
        }
        self.0.push_back(sequence);
    }

    /// Removes a number. Returns `true` if it was present. Answers mostly arrive in order, so the
    /// search is short.
    pub(super) fn take(&mut self, sequence: u32) -> bool {
        let found = self.0.iter().position(|&known| known == sequence);
        found.and_then(|at| self.0.remove(at)).is_some()
    }
}
