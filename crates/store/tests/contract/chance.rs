//! Randomness that a seed repeats.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

pub(crate) struct Chance(TestRng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number from `from` up to, but not including, `until`.
    pub(crate) fn between(&mut self, from: u64, until: u64) -> u64 {
        from + self.next() % (until - from).max(1)
    }

    /// Returns `true` with a probability in percent.
    pub(crate) fn is_among(&mut self, of_a_hundred: usize) -> bool {
        self.next() % 100 < of_a_hundred as u64
    }

    /// Returns a place in a list of this length, or none for an empty list.
    pub(crate) fn place(&mut self, length: usize) -> Option<usize> {
        (length > 0).then(|| usize::try_from(self.next() % length as u64).unwrap())
    }

    /// Returns one of a list, with the probability that the number before it gives.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let mut at = self.next() % choices.iter().map(|(weight, _)| weight).sum::<u64>();
        for &(weight, choice) in choices {
            if at < weight {
                return choice;
            }
            at -= weight;
        }
        unreachable!("it was below the sum")
    }
}
