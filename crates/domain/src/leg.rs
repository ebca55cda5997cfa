//! The legs of a send.

/// A leg of a `dual-backup` send. Any other send has only the first.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Leg {
    /// The first or only leg.
    First,
    /// The second leg, which follows if the first fails.
    Second,
}

impl Leg {
    /// Both legs in order.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// Returns the stored number, 1 or 2.
    pub const fn number(self) -> i64 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }

    /// Returns the leg of a stored number, or `None` for other numbers.
    pub const fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::First),
            2 => Some(Self::Second),
            _ => None,
        }
    }

    /// Returns the index in arrays by leg.
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// Returns the bit in a set of failed legs.
    pub(crate) const fn bit(self) -> i64 {
        1 << self.index()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_is_stored_as_its_number() {
        for leg in Leg::ALL {
            assert_eq!(Leg::from_number(leg.number()), Some(leg));
        }
        for other in [-1, 0, 3, i64::MAX] {
            assert_eq!(Leg::from_number(other), None);
        }
    }
}
