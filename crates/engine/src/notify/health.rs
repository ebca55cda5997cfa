//! The health of a receiver after its last attempts: whether it is called as often as there is something to tell, or only
//! tried. A receiver that does not answer keeps its places in flight until they time out; a thousand such would
//! keep all of them, so those of which nothing good is known share half of the places, and those that fail half of
//! that. One that was well and fails now and then is not among these.

use super::limits::Most;

/// How an attempt went, for the receiver as a whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AttemptResult {
    /// It answered, whatever it thinks of that callback.
    Well,
    /// It did not answer, or could not take anything.
    Badly,
    /// It was not asked.
    NotTried,
}

/// After so many bad attempts in a row a receiver is only tried, one callback at a time.
const BROKEN_AFTER: u32 = 5;

/// The health of a receiver.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Health {
    /// Nothing.
    #[default]
    Unknown,
    /// The last attempt went well.
    Proven,
    /// It was well, and the last attempts went badly, so many in a row.
    Shaken(u32),
    /// It was never well, or not for long: the last attempts went badly, so many in a row.
    Failing(u32),
}

/// With whom a receiver shares places in flight.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HealthClass {
    Proven,
    Doubtful,
    Failing,
}

impl HealthClass {
    pub(crate) const ALL: [Self; 3] = [Self::Proven, Self::Doubtful, Self::Failing];

    /// All of them in the order of their turns, after this one.
    pub(crate) fn others_first(self) -> [Self; Self::ALL.len()] {
        let mut classes = Self::ALL;
        classes.rotate_left((self as usize + 1) % Self::ALL.len());
        classes
    }
}

/// How many callbacks are in flight to receivers of each class.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Flying([usize; HealthClass::ALL.len()]);

impl Flying {
    pub(crate) fn of(self, class: HealthClass) -> usize {
        self.0[class as usize]
    }

    pub(crate) fn all(self) -> usize {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, class: HealthClass, more: usize) {
        self.0[class as usize] += more;
    }

    pub(crate) fn take(&mut self, class: HealthClass, less: usize) {
        let flying = &mut self.0[class as usize];
        *flying = flying.saturating_sub(less);
    }

    /// Returns `true` if one more of a class may fly where so many may in all.
    pub(crate) fn has_room(self, class: HealthClass, places: usize) -> bool {
        let half = places.div_ceil(2);
        let failing = self.of(HealthClass::Failing);
        let unproven = failing + self.of(HealthClass::Doubtful);
        self.all() < places
            && match class {
                HealthClass::Proven => true,
                HealthClass::Doubtful => unproven < half,
                HealthClass::Failing => unproven < half && failing < half.div_ceil(2),
            }
    }
}

impl Health {
    /// The standing after one more attempt.
    pub(crate) const fn after(self, result: AttemptResult) -> Self {
        match (result, self) {
            (AttemptResult::NotTried, _) => self,
            (AttemptResult::Well, _) => Self::Proven,
            (AttemptResult::Badly, Self::Unknown) => Self::Failing(1),
            (AttemptResult::Badly, Self::Proven) => Self::Shaken(1),
            (AttemptResult::Badly, Self::Shaken(times)) if times + 1 < BROKEN_AFTER => {
                Self::Shaken(times + 1)
            }
            (AttemptResult::Badly, Self::Shaken(times) | Self::Failing(times)) => {
                Self::Failing(times.saturating_add(1))
            }
        }
    }

    pub(crate) const fn class(self) -> HealthClass {
        match self {
            Self::Unknown | Self::Shaken(_) => HealthClass::Doubtful,
            Self::Proven => HealthClass::Proven,
            Self::Failing(_) => HealthClass::Failing,
        }
    }

    /// Returns `true` if it is only tried.
    pub(crate) const fn is_broken(self) -> bool {
        matches!(self, Self::Failing(times) if times >= BROKEN_AFTER)
    }

    /// How many callbacks may be in flight to it.
    pub(crate) const fn in_flight(self, most: Most) -> usize {
        match self {
            Self::Proven => most.proven,
            _ if self.is_broken() => 1,
            _ => most.any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_bad_attempts_break_a_receiver_until_one_succeeds() {
        let run = |attempts: &[AttemptResult]| {
            attempts
                .iter()
                .fold(Health::default(), |health, &result| health.after(result))
        };
        let most = Most { any: 8, proven: 32 };
        let bad = [AttemptResult::Badly; 5];
        assert_eq!(run(&[]).in_flight(most), 8);
        assert_eq!(run(&bad[..4]).in_flight(most), 8);
        assert_eq!(run(&bad).in_flight(most), 1);
        assert_eq!(
            run(&[&bad[..], &[AttemptResult::NotTried]].concat()).in_flight(most),
            1
        );
        let mended = run(&[&bad[..], &[AttemptResult::Well]].concat());
        assert_eq!(
            (mended.in_flight(most), mended.class()),
            (32, HealthClass::Proven)
        );
        let again = run(&[&bad[..4], &[AttemptResult::Well], &bad[..4]].concat());
        assert_eq!(
            (again.in_flight(most), again.class()),
            (8, HealthClass::Doubtful)
        );
        let broken = run(&[&[AttemptResult::Well], &bad[..]].concat());
        assert_eq!(
            (broken.in_flight(most), broken.class()),
            (1, HealthClass::Failing)
        );
    }
}
