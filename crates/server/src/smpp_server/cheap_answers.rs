//! The pace of the answers that need no work: those to `enquire_link`, and to requests that the
//! session itself rejects, as those above the window. No limit of the user counts them.

use std::time::Duration;
use tokio::time::Instant;

/// Number of such answers in a second. A client with more is read more slowly, so that its flood
/// does not take the processor from other clients.
const PER_SECOND: u32 = 1_000;
/// As many as the limit of a second may come at once.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The answers of one connection without work.
pub(super) struct CheapAnswers {
    /// The time at which the answers so far are due at the limit.
    due: Instant,
}

impl CheapAnswers {
    pub(super) const fn new(now: Instant) -> Self {
        Self { due: now }
    }

    /// Counts answers.
    pub(super) fn count(&mut self, answers: u32, now: Instant) {
        let each = Duration::from_secs(1) / PER_SECOND;
        self.due = self.due.max(now) + each * answers;
    }

    /// Returns the time before which the connection is not read, if it is later than now.
    pub(super) fn pause_until(&self, now: Instant) -> Option<Instant> {
        let until = self.due.checked_sub(AT_ONCE)?;
        (until > now).then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_of_many_cheap_answers_pauses_until_its_pace() {
        let now = Instant::now();
        let later = |ms| now + Duration::from_millis(ms);
        let mut answers = CheapAnswers::new(now);
        answers.count(PER_SECOND, now);
        assert_eq!(answers.pause_until(now), None);
        answers.count(250, now);
        assert_eq!(answers.pause_until(now), Some(later(250)));
        assert_eq!(answers.pause_until(later(250)), None);
        answers.count(1, later(5_000));
        assert_eq!(answers.pause_until(later(5_000)), None);
    }
}
