//! Randomness from the seed.

use engine::Random;

/// The randomness of the engine and of the faults.
#[derive(Debug)]
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        // Seeds are consecutive numbers, so they are mixed first.
        Self(Random::seeded(Random::seeded(seed).number()))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.number()
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns a number from `first` to below `end`.
    pub(crate) fn between(&mut self, first: u64, end: u64) -> u64 {
        first + self.below(end - first)
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64);
        from[usize::try_from(at).unwrap()].clone()
    }
}
