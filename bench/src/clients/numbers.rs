//! The numbers of a load, which its clients share.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A load that is behind its pace does not send faster than this to make up for it: the numbers of
/// this time come at once, and no more.
const MAX_BEHIND: Duration = Duration::from_millis(50);

/// Numbers at a pace, until the last one or the end of the time.
pub(super) struct Numbers {
    end: u64,
    until: Option<Instant>,
    every: Duration,
    /// The next number, and its time.
    next: Mutex<(u64, Instant)>,
}

/// The step that a client may take.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    /// The client sends this number now.
    Number(u64),
    /// No number is due before this time.
    At(Instant),
    /// All numbers are taken, or the time is over.
    Over,
}

impl Numbers {
    /// Returns numbers that begin now. A pace of zero is none.
    pub(super) fn new(
        numbers: Range<u64>,
        per_second: u32,
        began: Instant,
        time: Duration,
    ) -> Self {
        let second = Duration::from_secs(1);
        Self {
            end: numbers.end,
            until: began.checked_add(time),
            every: second.checked_div(per_second).unwrap_or_default(),
            next: Mutex::new((numbers.start, began)),
        }
    }

    /// Takes the next number, if there is one.
    pub(super) fn next(&self, now: Instant) -> Next {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, due) = *next;
        if number >= self.end || self.until.is_some_and(|until| until <= now) {
            return Next::Over;
        }
        if due > now {
            return Next::At(due);
        }
        let earliest = now.checked_sub(MAX_BEHIND).unwrap_or(due);
        *next = (number + 1, due.max(earliest) + self.every);
        Next::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_pace_and_end_in_time() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let numbers = Numbers::new(7..1_000, 1_000, began, Duration::from_secs(1));
        assert_eq!(numbers.next(began), Next::Number(7));
        assert_eq!(numbers.next(began), Next::At(at(1)));
        assert_eq!(numbers.next(at(1)), Next::Number(8));
        let taken = |ms| {
            let all = std::iter::from_fn(|| match numbers.next(at(ms)) {
                Next::Number(number) => Some(number),
                Next::At(_) | Next::Over => None,
            });
            all.count()
        };
        assert_eq!(taken(11), 10);
        assert_eq!(taken(811), 51);
        assert_eq!(numbers.next(at(1_000)), Next::Over);
        let numbers = Numbers::new(1..2, 0, began, Duration::MAX);
        assert_eq!(numbers.next(began), Next::Number(1));
        assert_eq!(numbers.next(began), Next::Over);
    }
}
