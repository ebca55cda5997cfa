//! Rate-limits the log for operations that are retried while the database is away. It logs the
//! first failure, then one line a minute, then one on recovery.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Interval of log lines about a failure that goes on.
const REMINDER_INTERVAL: Duration = Duration::from_mins(1);
/// Time after which a failure or a recovery counts as lasting. Shorter ones may alternate.
const SETTLING_TIME: Duration = Duration::from_secs(5);

/// A log limiter: it decides which results of an operation are logged. One instance may serve many
/// tasks. A success without an earlier failure costs one read of an atomic flag.
pub struct Outage {
    /// The log line while the operation fails.
    what: &'static str,
    is_failing: AtomicBool,
    log: Mutex<Log>,
}

/// A line to log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Line {
    /// The operation fails. `unlogged` counts the failures since the last line.
    Fails { unlogged: u64 },
    /// The operation works again.
    Over,
}

impl Outage {
    /// Returns a limiter for an operation that works so far. `what` is the line while it fails.
    pub const fn of(what: &'static str) -> Self {
        Self {
            what,
            is_failing: AtomicBool::new(false),
            log: Mutex::new(Log::new()),
        }
    }

    /// Records the result of a try and logs it if due. Returns the value of a success.
    pub fn note<T, E: Display>(&self, tried: Result<T, E>) -> Option<T> {
        match tried {
            Ok(value) => {
                self.worked();
                Some(value)
            }
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    /// Records a failure and logs it if due.
    pub fn failed(&self, error: &dyn Display) {
        let attempt = self.what;
        if let Some(unlogged) = self.is_to_log() {
            tracing::error!(%error, unlogged, "{attempt}; retrying, logged at most once a minute");
        }
    }

    /// Records a failure that the caller logs itself. Returns the number of unlogged failures since
    /// the last line, or `None` if this one is not logged either.
    pub fn is_to_log(&self) -> Option<u64> {
        self.is_failing.store(true, Ordering::Relaxed);
        match self.log().line(true, Instant::now()) {
            Some(Line::Fails { unlogged }) => Some(unlogged),
            Some(Line::Over) | None => None,
        }
    }

    /// Records a success, and logs the end of an outage.
    pub fn worked(&self) {
        let was_failing = self.is_failing.load(Ordering::Relaxed);
        if !was_failing || !self.is_failing.swap(false, Ordering::Relaxed) {
            return;
        }
        let attempt = self.what;
        if self.log().line(false, Instant::now()) == Some(Line::Over) {
            tracing::info!("over: {attempt}");
        }
    }

    /// Takes the lock, also after a panic elsewhere: its holders leave no state half changed.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of the limiter.
struct Log {
    /// Time of the last line about a failure.
    logged: Option<Instant>,
    /// Failures since then.
    unlogged: u64,
    /// Start of the current failures, and `true` if one of them was logged.
    failing: Option<(Instant, bool)>,
    /// Time at which the last of them ended.
    ended: Option<Instant>,
}

impl Log {
    const fn new() -> Self {
        Self {
            logged: None,
            unlogged: 0,
            failing: None,
            ended: None,
        }
    }

    fn line(&mut self, failed: bool, now: Instant) -> Option<Line> {
        if !failed {
            let (_, was_logged) = self.failing.take()?;
            self.ended = Some(now);
            return was_logged.then_some(Line::Over);
        }
        let is_past = |then: Instant, time| now.duration_since(then) >= time;
        let (began, was_logged) = *self.failing.get_or_insert((now, false));
        let healthy = |ended| began.duration_since(ended);
        let is_new = self
            .ended
            .is_none_or(|ended| healthy(ended) >= SETTLING_TIME);
        let lasts = is_past(began, SETTLING_TIME);
        let is_due = match self.logged {
            Some(logged) => {
                is_past(logged, REMINDER_INTERVAL) || (!was_logged && (is_new || lasts))
            }
            None => true,
        };
        if !is_due {
            self.unlogged += 1;
            return None;
        }
        self.logged = Some(now);
        self.failing = Some((began, true));
        let unlogged = std::mem::take(&mut self.unlogged);
        Some(Line::Fails { unlogged })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines that tries at intervals of a quarter of a second log, with their times in
    /// milliseconds.
    fn lines(tries: u64, fails: impl Fn(u64) -> bool) -> Vec<(u64, Line)> {
        let (mut log, begun) = (Log::new(), Instant::now());
        let tries = (0..tries).map(|number| 250 * number);
        let lines = tries.filter_map(|at| {
            let line = log.line(fails(at), begun + Duration::from_millis(at))?;
            Some((at, line))
        });
        lines.collect()
    }

    fn fails(unlogged: u64) -> Line {
        Line::Fails { unlogged }
    }

    #[test]
    fn an_outage_is_logged_first_once_a_minute_and_when_it_is_over() {
        let failing = |at| (10_000..140_000).contains(&at) || (150_000..151_000).contains(&at);
        let expected = [
            (10_000, fails(0)),
            (70_000, fails(239)),
            (130_000, fails(239)),
            (140_000, Line::Over),
            (150_000, fails(39)),
            (151_000, Line::Over),
        ];
        assert_eq!(lines(800, failing), expected);
    }

    #[test]
    fn failures_among_successes_leave_two_lines_a_minute() {
        let all = lines(1_200, |at| at % 1_000 < 500);
        let expected = [0, 60_000, 120_000, 180_000, 240_000];
        let began = all.iter().filter(|(_, line)| *line != Line::Over);
        assert_eq!(began.map(|(at, _)| *at).collect::<Vec<_>>(), expected);
        assert_eq!(all.len(), 2 * expected.len(), "{all:?}");
    }

    #[test]
    fn an_outage_right_after_another_is_logged_once_it_lasts() {
        let failing = |at| at < 31_000 || (32_000..63_000).contains(&at);
        let expected = [
            (0, fails(0)),
            (31_000, Line::Over),
            (37_000, fails(143)),
            (63_000, Line::Over),
        ];
        assert_eq!(lines(400, failing), expected);
    }
}
