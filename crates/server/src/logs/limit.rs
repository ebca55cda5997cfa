//! The limit on log lines of one kind a minute, so that the log stays readable and the disk has
//! room.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

const WINDOW: Duration = Duration::from_mins(1);
/// Maximum lines a minute of one statement of ours. Debug lines have no limit.
const MAX_OWN_LINES: u32 = 3_000;
/// Maximum lines a minute of one statement of a library. Some describe each packet of a stranger.
const MAX_FOREIGN_LINES: u32 = 60;
/// Our crates, as the log names them.
const OWN_TARGETS: [&str; 6] = ["server", "ogene", "engine", "store", "smpp", "domain"];
/// Maximum kinds that are counted. Above it, the kinds of past minutes are removed.
const MAX_KINDS: usize = 10_000;

/// The decision on a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LineFate {
    /// The line is written. This many of its kind were left out before it.
    Written { left_out: u64 },
    /// The line is left out.
    LeftOut,
}

/// The counts of lines of each kind.
pub(crate) struct LineLimit<K> {
    windows: Mutex<HashMap<K, Window>>,
}

impl<K> Default for LineLimit<K> {
    fn default() -> Self {
        Self {
            windows: Mutex::default(),
        }
    }
}

/// The lines of one kind since a time.
struct Window {
    since: Instant,
    lines: u32,
    left_out: u64,
}

impl Window {
    const fn new(now: Instant) -> Self {
        Self {
            since: now,
            lines: 0,
            left_out: 0,
        }
    }

    fn is_past(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= WINDOW
    }

    fn count(&mut self, max: u32, now: Instant) -> LineFate {
        if self.is_past(now) {
            (self.since, self.lines) = (now, 0);
        }
        if self.lines >= max {
            self.left_out += 1;
            return LineFate::LeftOut;
        }
        self.lines += 1;
        LineFate::Written {
            left_out: mem::take(&mut self.left_out),
        }
    }
}

impl<K: Eq + Hash> LineLimit<K> {
    /// Counts a line of this kind. At most `max` of them are written in a minute.
    pub(crate) fn count(&self, kind: K, max: u32, now: Instant) -> LineFate {
        let mut windows = self.windows.lock();
        if windows.len() >= MAX_KINDS {
            windows.retain(|_, window| !window.is_past(now));
        }
        let window = windows.entry(kind).or_insert_with(|| Window::new(now));
        window.count(max, now)
    }
}

/// The limit on each log statement, as a layer below the one that writes.
pub(super) struct Limited {
    lines: LineLimit<Identifier>,
    /// Records how many lines of a target were left out.
    record: fn(u64, &str),
}

impl Limited {
    pub(super) fn new(record: fn(u64, &str)) -> Self {
        Self {
            lines: LineLimit::default(),
            record,
        }
    }
}

impl<S: Subscriber> Layer<S> for Limited {
    fn event_enabled(&self, event: &Event<'_>, _: Context<'_, S>) -> bool {
        let Some(max) = max_lines(event.metadata()) else {
            return true;
        };
        let kind = event.metadata().callsite();
        match self.lines.count(kind, max, Instant::now()) {
            LineFate::Written { left_out: 0 } => true,
            LineFate::Written { left_out } => {
                (self.record)(left_out, event.metadata().target());
                true
            }
            LineFate::LeftOut => false,
        }
    }
}

/// Returns the maximum lines of a statement in a minute, if it is limited.
fn max_lines(statement: &Metadata<'_>) -> Option<u32> {
    if *statement.level() > Level::INFO {
        return None;
    }
    let target = statement.target();
    let name = target.split_once("::").map_or(target, |(name, _)| name);
    let is_own = OWN_TARGETS.contains(&name);
    Some(if is_own {
        MAX_OWN_LINES
    } else {
        MAX_FOREIGN_LINES
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_above_the_limit_are_counted_in_the_next_minute() {
        let (limit, begun) = (LineLimit::default(), Instant::now());
        let written = |left_out| LineFate::Written { left_out };
        let table = [
            ("a", 0, written(0)),
            ("a", 1, written(0)),
            ("a", 2, LineFate::LeftOut),
            ("b", 2, written(0)),
            ("a", 59, LineFate::LeftOut),
            ("a", 60, written(2)),
            ("a", 61, written(0)),
            ("a", 61, LineFate::LeftOut),
            ("a", 600, written(1)),
        ];
        for (kind, second, expected) in table {
            let now = begun + Duration::from_secs(second);
            assert_eq!(limit.count(kind, 2, now), expected, "{kind} {second}");
        }
    }

    #[test]
    fn kinds_of_past_minutes_are_forgotten() {
        let (limit, begun) = (LineLimit::default(), Instant::now());
        for kind in 0..MAX_KINDS {
            limit.count(kind, 1, begun);
        }
        limit.count(MAX_KINDS, 1, begun + WINDOW);
        assert_eq!(limit.windows.lock().len(), 1);
    }

    /// A layer that counts the lines that pass.
    #[derive(Clone, Default)]
    struct Counted(std::sync::Arc<std::sync::atomic::AtomicU32>);

    impl<S: Subscriber> Layer<S> for Counted {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn a_library_that_logs_each_packet_of_a_stranger_is_bounded() {
        use tracing_subscriber::layer::SubscriberExt;
        let counted = Counted::default();
        let lines = || counted.0.swap(0, std::sync::atomic::Ordering::Relaxed);
        let limited = tracing_subscriber::registry()
            .with(Limited::new(|_, _| {}))
            .with(counted.clone());
        tracing::subscriber::with_default(limited, || {
            (0..10_000).for_each(|_| tracing::warn!(target: "h2::proto::ping_pong", "a ping"));
            assert_eq!(lines(), MAX_FOREIGN_LINES);
            (0..10_000).for_each(|_| tracing::warn!(target: "server::http", "a request"));
            assert_eq!(lines(), MAX_OWN_LINES);
            (0..10_000).for_each(|_| tracing::debug!(target: "h2::proto", "asked for"));
            assert_eq!(lines(), 10_000);
        });
    }
}
