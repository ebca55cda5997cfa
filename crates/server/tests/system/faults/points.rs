//! The points: the calls of the service at which a fault is injected, and the fault.

use crate::installation::Installation;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::process::Command;

/// The calls that change the outside of a service: files and sockets.
const CALLS: [&str; 7] = [
    "pwrite64",
    "fdatasync",
    "fsync",
    "ftruncate",
    "sendto",
    "writev",
    "write",
];
/// `write` also serves the runtime itself and the log, so it is only killed there.
const NEVER_FAILS: &str = "write";
/// strace's mark of a call that it made fail.
const DONE: &str = "(INJECTED)";
/// The file of strace's output.
const TRACE: &str = "trace";

/// A call of the service at which a fault is injected, in the form of strace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Point(pub(crate) String);

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Point {
    fn call(&self) -> &str {
        self.0.split(':').next().unwrap_or_default()
    }

    pub(crate) fn kills(&self) -> bool {
        self.0.contains("SIGKILL")
    }

    /// Returns `true` if the fault is a failed sync.
    pub(crate) fn is_sync(&self) -> bool {
        self.call().ends_with("sync") && !self.kills()
    }

    /// Returns the command of the service with this fault.
    pub(crate) fn serve(&self, ogene: &Installation) -> Command {
        let inject = format!("inject={self}");
        // The faster way to trace calls injects no signals.
        let quick: &[&str] = if self.kills() {
            &[]
        } else {
            &["--seccomp-bpf"]
        };
        traced(ogene, self.call(), &[&["-e", &inject], quick].concat())
    }

    /// Returns `true` if strace made a call fail.
    pub(crate) fn has_failed(ogene: &Installation) -> bool {
        trace(ogene).contains(DONE)
    }
}

/// The service is a child of this process, and strace is detached from it (`-D`).
pub(crate) fn traced(ogene: &Installation, calls: &str, more: &[&str]) -> Command {
    let served = ogene.command(&["serve"]);
    let mut command = Command::new("strace");
    command
        .args(["-D", "-f", "-qq", "-o", TRACE])
        .args(["-e", &format!("trace={calls}")])
        .args(more)
        .arg(served.get_program())
        .args(served.get_args())
        .current_dir(ogene.path())
        .env_clear();
    command
}

/// Returns the command of the service with a record of its calls.
pub(crate) fn recorded(ogene: &Installation) -> Command {
    traced(ogene, &CALLS.join(","), &["--seccomp-bpf"])
}

fn trace(ogene: &Installation) -> String {
    fs::read_to_string(ogene.path().join(TRACE)).unwrap_or_default()
}

/// Returns all points of a recorded run. strace counts the calls of each thread, so there are as
/// many of each kind as the busiest thread made.
pub(crate) fn all(ogene: &Installation) -> Vec<Point> {
    let mut made: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let trace = trace(ogene);
    for line in trace.lines() {
        let mut words = line.split_whitespace();
        let (Some(thread), Some(rest)) = (words.next(), words.next()) else {
            continue;
        };
        if let Some((call, _)) = rest.split_once('(') {
            *made.entry((call, thread)).or_default() += 1;
        }
    }
    let mut points = Vec::new();
    for call in CALLS {
        let counts = made.iter().filter(|((made, _), _)| *made == call);
        let most = counts.map(|(_, count)| *count).max().unwrap_or(0);
        for when in 1..=most {
            points.push(Point(format!("{call}:signal=SIGKILL:when={when}")));
            if call != NEVER_FAILS {
                points.push(Point(format!("{call}:error=EIO:when={when}")));
                // A full disk stays full for a while.
                let until = when + 2;
                points.push(Point(format!("{call}:error=ENOSPC:when={when}..{until}")));
            }
        }
    }
    points
}

/// Returns so many random points for this seed.
pub(crate) fn sample(mut points: Vec<Point>, count: usize, seed: u64) -> Vec<Point> {
    let chance = |point: &Point| {
        let mut hasher = DefaultHasher::new();
        (seed, &point.0).hash(&mut hasher);
        hasher.finish()
    };
    points.sort_by_cached_key(chance);
    points.truncate(count);
    points
}
