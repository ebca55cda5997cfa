//! Random delays of a script.

use super::random::Random;
use std::time::Duration;

/// A random time between two bounds, which are included.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Delay {
    /// The shortest time.
    pub from: Duration,
    /// The longest time.
    pub to: Duration,
}

impl Delay {
    /// No delay.
    pub const NONE: Self = Self::fixed(Duration::ZERO);

    /// Returns a delay that is always the same.
    pub const fn fixed(delay: Duration) -> Self {
        Self {
            from: delay,
            to: delay,
        }
    }

    pub(super) fn pick(self, random: &mut Random) -> Duration {
        let span = self.to.saturating_sub(self.from);
        if span.is_zero() {
            return self.from;
        }
        let span = u64::try_from(span.as_micros()).unwrap_or(u64::MAX - 1);
        self.from + Duration::from_micros(random.below(span + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_stays_within_its_bounds() {
        let mut random = Random::new(7);
        let delay = Delay {
            from: Duration::from_millis(5),
            to: Duration::from_millis(9),
        };
        for _ in 0..1_000 {
            let picked = delay.pick(&mut random);
            assert!(delay.from <= picked && picked <= delay.to);
        }
    }
}
