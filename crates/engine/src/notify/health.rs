//! The circuit breaker of a receiver, from the results of its last attempts.
//!
//! A receiver that does not answer occupies its concurrency until the timeouts. So receivers
//! without a success share half of the total concurrency, and failing ones share a quarter of it. A
//! healthy receiver that fails now and then is not limited by this.

use super::limits::LaneLimit;

/// The result of an attempt for the health of its receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AttemptResult {
    /// The receiver answered, even if it refused this callback.
    Answered,
    /// The receiver did not answer, or failed.
    Failed,
    /// No attempt was made.
    NotTried,
}

/// Number of failures in a row after which the circuit breaker opens.
const BREAKER_THRESHOLD: u32 = 5;

/// The health of a receiver.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Health {
    /// No attempt has a result yet.
    #[default]
    Unknown,
    /// The last attempt was answered.
    Healthy,
    /// The receiver was healthy, and then this number of attempts failed in a row.
    Degraded(u32),
    /// The receiver was not healthy, and this number of attempts failed in a row.
    Failing(u32),
}

/// The class of a receiver. Each class has a share of the concurrency.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum HealthClass {
    Healthy,
    Unproven,
    Failing,
}

impl HealthClass {
    pub(crate) const ALL: [Self; 3] = [Self::Healthy, Self::Unproven, Self::Failing];

    /// Returns all classes in round-robin order, beginning after this one.
    pub(crate) fn round_robin_after(self) -> [Self; Self::ALL.len()] {
        let mut classes = Self::ALL;
        classes.rotate_left((self as usize + 1) % Self::ALL.len());
        classes
    }
}

/// Number of callbacks in flight to receivers of each class.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct ClassCounts([usize; HealthClass::ALL.len()]);

impl ClassCounts {
    pub(crate) fn of(self, class: HealthClass) -> usize {
        self.0[class as usize]
    }

    pub(crate) fn all(self) -> usize {
        self.0.iter().sum()
    }

    pub(crate) fn add(&mut self, class: HealthClass, more: usize) {
        self.0[class as usize] += more;
    }

    pub(crate) fn remove(&mut self, class: HealthClass, less: usize) {
        let count = &mut self.0[class as usize];
        *count = count.saturating_sub(less);
    }

    /// Returns `true` if another callback to a class may start, where `limit` is the concurrency of
    /// all classes.
    pub(crate) fn has_capacity(self, class: HealthClass, limit: usize) -> bool {
        let half = limit.div_ceil(2);
        let failing = self.of(HealthClass::Failing);
        let unproven = failing + self.of(HealthClass::Unproven);
        self.all() < limit
            && match class {
                HealthClass::Healthy => true,
                HealthClass::Unproven => unproven < half,
                HealthClass::Failing => unproven < half && failing < half.div_ceil(2),
            }
    }
}

impl Health {
    /// Returns the health after another attempt.
    pub(crate) const fn after(self, result: AttemptResult) -> Self {
        match (result, self) {
            (AttemptResult::NotTried, _) => self,
            (AttemptResult::Answered, _) => Self::Healthy,
            (AttemptResult::Failed, Self::Unknown) => Self::Failing(1),
            (AttemptResult::Failed, Self::Healthy) => Self::Degraded(1),
            (AttemptResult::Failed, Self::Degraded(times)) if times + 1 < BREAKER_THRESHOLD => {
                Self::Degraded(times + 1)
            }
            (AttemptResult::Failed, Self::Degraded(times) | Self::Failing(times)) => {
                Self::Failing(times.saturating_add(1))
            }
        }
    }

    pub(crate) const fn class(self) -> HealthClass {
        match self {
            Self::Unknown | Self::Degraded(_) => HealthClass::Unproven,
            Self::Healthy => HealthClass::Healthy,
            Self::Failing(_) => HealthClass::Failing,
        }
    }

    /// Returns `true` if the circuit breaker is open. The receiver gets one callback at a time
    /// then.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Failing(times) if times >= BREAKER_THRESHOLD)
    }

    /// Returns how many callbacks may be in flight to the receiver.
    pub(crate) const fn in_flight(self, limit: LaneLimit) -> usize {
        match self {
            Self::Healthy => limit.healthy,
            _ if self.is_open() => 1,
            _ => limit.any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_failures_open_the_breaker_and_an_answer_closes_it() {
        let run = |attempts: &[AttemptResult]| {
            attempts
                .iter()
                .fold(Health::default(), |health, &result| health.after(result))
        };
        let limit = LaneLimit {
            any: 8,
            healthy: 32,
        };
        let bad = [AttemptResult::Failed; 5];
        assert_eq!(run(&[]).in_flight(limit), 8);
        assert_eq!(run(&bad[..4]).in_flight(limit), 8);
        assert_eq!(run(&bad).in_flight(limit), 1);
        assert_eq!(
            run(&[&bad[..], &[AttemptResult::NotTried]].concat()).in_flight(limit),
            1
        );
        let recovered = run(&[&bad[..], &[AttemptResult::Answered]].concat());
        assert_eq!(
            (recovered.in_flight(limit), recovered.class()),
            (32, HealthClass::Healthy)
        );
        let again = run(&[&bad[..4], &[AttemptResult::Answered], &bad[..4]].concat());
        assert_eq!(
            (again.in_flight(limit), again.class()),
            (8, HealthClass::Unproven)
        );
        let opened = run(&[&[AttemptResult::Answered], &bad[..]].concat());
        assert_eq!(
            (opened.in_flight(limit), opened.class()),
            (1, HealthClass::Failing)
        );
    }
}
