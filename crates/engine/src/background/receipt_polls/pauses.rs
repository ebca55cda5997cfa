//! The pauses of a poller while the requests to its carrier fail.

use crate::context::random::Random;
use crate::dispatch::back_off;
use std::time::Duration;
use tokio::time::Instant;

/// The first pause, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));

/// The pauses of a poller. While requests fail, each pause is followed by one request.
pub(super) struct Pauses {
    failures: u32,
    /// The end of the last pause.
    pub(super) end: Instant,
}

impl Pauses {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            failures: 0,
            end: now,
        }
    }

    /// Notes the end of a request. The requests that were open when a pause began do not extend it.
    pub(super) fn note(&mut self, is_failed: bool, now: Instant, random: &Random) {
        if !is_failed {
            *self = Self::new(now);
        } else if self.end <= now {
            self.failures = self.failures.saturating_add(1);
            self.end = now + back_off(PAUSES, self.failures, random);
        }
    }

    /// Returns the maximum number of requests at once.
    pub(super) fn window(&self, configured: usize) -> usize {
        if self.failures == 0 {
            configured
        } else {
            configured.min(1)
        }
    }
}

/// Returns `true` if a carrier with this HTTP status answers for no message now.
pub(super) const fn is_failure(status: u16) -> bool {
    matches!(status, 401 | 403 | 408 | 429 | 500..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_and_end_with_an_answer() {
        let (random, begin) = (Random::system(), Instant::now());
        let (mut pauses, mut now) = (Pauses::new(begin), begin);
        assert_eq!(pauses.window(5), 5);
        for expected in [1, 2, 4, 8, 16, 32, 60, 60] {
            let expected = Duration::from_secs(expected);
            pauses.note(true, now, &random);
            let pause = pauses.end - now;
            assert!(pause >= expected * 3 / 4, "{pause:?}");
            assert!(pause <= expected * 5 / 4, "{pause:?}");
            assert_eq!(pauses.window(5), 1);
            let end = pauses.end;
            pauses.note(true, now, &random);
            assert_eq!(pauses.end, end, "an open request does not extend it");
            now = end;
        }
        pauses.note(false, now, &random);
        assert_eq!((pauses.end, pauses.window(5)), (now, 5));
        pauses.note(true, now, &random);
        assert!(pauses.end - now <= Duration::from_millis(1_250));
    }

    #[test]
    fn an_unknown_message_is_no_failure_of_the_carrier() {
        for (status, expected) in [
            (200, false),
            (400, false),
            (404, false),
            (401, true),
            (403, true),
            (408, true),
            (429, true),
            (500, true),
            (503, true),
        ] {
            assert_eq!(is_failure(status), expected, "{status}");
        }
    }
}
