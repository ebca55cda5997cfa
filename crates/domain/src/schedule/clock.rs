//! The clock of a message, which starts at its due time and stops while it is paused. Validity and
//! receipt timeouts are measured by it.

use crate::gateway::QuietHours;

/// The clock of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clock {
    /// The start, Unix milliseconds. A resume moves it by the length of the pause.
    pub due_at_ms: i64,
    /// The time at which it was paused.
    pub paused_at_ms: Option<i64>,
}

/// A resumed clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resumed {
    /// The clock.
    pub clock: Clock,
    /// The time from which recipients are sent, with regard to the quiet hours of the gateway.
    pub next_at_ms: i64,
}

impl Clock {
    /// Creates the clock of a message with this due time.
    pub const fn new(due_at_ms: i64) -> Self {
        Self {
            due_at_ms,
            paused_at_ms: None,
        }
    }

    /// Returns the elapsed milliseconds, which are 0 before the due time.
    pub fn elapsed_ms(self, now_ms: i64) -> i64 {
        let until_ms = self.paused_at_ms.map_or(now_ms, |at_ms| at_ms.min(now_ms));
        (until_ms - self.due_at_ms).max(0)
    }

    /// Returns when so much time has elapsed, or `None` while the clock is stopped.
    pub fn reaches(self, elapsed_ms: i64) -> Option<i64> {
        match self.paused_at_ms {
            None => Some(self.due_at_ms.saturating_add(elapsed_ms)),
            Some(_) => None,
        }
    }

    /// Stops the clock. A clock that is stopped already does not change.
    #[must_use]
    pub fn pause(self, now_ms: i64) -> Self {
        Self {
            paused_at_ms: self.paused_at_ms.or(Some(now_ms)),
            ..self
        }
    }

    /// Restarts the clock. A message that became due while it was paused is due now.
    #[must_use]
    pub fn resume(self, now_ms: i64, quiet: Option<QuietHours>) -> Resumed {
        let stood_ms = self.paused_at_ms.map_or(0, |paused_at_ms| {
            (now_ms - paused_at_ms.max(self.due_at_ms)).max(0)
        });
        let due_at_ms = self.due_at_ms.saturating_add(stood_ms);
        let next_at_ms = due_at_ms.max(now_ms);
        Resumed {
            clock: Self::new(due_at_ms),
            next_at_ms: quiet.map_or(next_at_ms, |quiet| quiet.due(next_at_ms)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_paused_clock_is_stopped() {
        let clock = Clock::new(1_000);
        assert_eq!(
            [0, 1_000, 1_700].map(|now| clock.elapsed_ms(now)),
            [0, 0, 700]
        );
        let paused = clock.pause(1_700).pause(1_900);
        assert_eq!([1_700, 9_000].map(|now| paused.elapsed_ms(now)), [700, 700]);
        assert_eq!(
            (clock.reaches(500), paused.reaches(500)),
            (Some(1_500), None)
        );
        let resumed = paused.resume(5_000, None);
        assert_eq!(resumed.clock.elapsed_ms(5_000), 700);
        assert_eq!(
            (resumed.clock.reaches(1_000), resumed.next_at_ms),
            (Some(5_300), 5_000)
        );
    }

    #[test]
    fn a_pause_before_the_due_time_moves_it_only_when_it_has_passed() {
        let paused = Clock::new(5_000).pause(1_000);
        assert_eq!(paused.resume(3_000, None).clock, Clock::new(5_000));
        assert_eq!(paused.resume(3_000, None).next_at_ms, 5_000);
        let late = paused.resume(8_000, None);
        assert_eq!((late.clock, late.next_at_ms), (Clock::new(8_000), 8_000));
    }

    #[test]
    fn a_resume_in_quiet_hours_sends_at_their_end() {
        let quiet = QuietHours {
            from_minute: 60,
            until_minute: 120,
        };
        // 01:00 in Lagos is 00:00 UTC.
        let resumed = Clock::new(0).pause(10).resume(1_000, Some(quiet));
        assert_eq!(resumed.next_at_ms, 3_600_000);
        assert_eq!(resumed.clock.elapsed_ms(1_000), 10);
    }

    proptest! {
        #[test]
        fn no_time_counts_while_paused(due in 0..1_000_i64, steps in proptest::collection::vec(0..500_i64, 0..12)) {
            let (mut clock, mut now, mut counted) = (Clock::new(due), 0, 0);
            for (step, length) in steps.into_iter().enumerate() {
                let is_paused = step % 2 == 1;
                let runs_from = now.max(clock.due_at_ms);
                now += length;
                if is_paused {
                    clock = clock.resume(now, None).clock;
                } else {
                    counted += (now - runs_from).max(0);
                    prop_assert_eq!(clock.elapsed_ms(now), counted);
                    clock = clock.pause(now);
                }
                prop_assert_eq!(clock.elapsed_ms(now), counted);
            }
        }
    }
}
