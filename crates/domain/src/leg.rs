//! The ways of a send.

/// One of the two ways of a `dual-backup` send; any other send has the first alone.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Leg {
    /// The first of two, or the only one.
    First,
    /// The second, which follows where the first fails.
    Second,
}

impl Leg {
    /// Both, in their order.
    pub const ALL: [Self; 2] = [Self::First, Self::Second];

    /// The number that is stored: 1 or 2.
    pub const fn number(self) -> i64 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }

    /// The leg of a stored number; `None` for any number but 1 and 2.
    pub const fn from_number(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::First),
            2 => Some(Self::Second),
            _ => None,
        }
    }

    /// The place of the leg in a pair.
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// The bit of the leg in a set of failed legs.
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
