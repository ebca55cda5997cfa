//! A workload is tried at one point after the other.

use super::kept::Kept;
use super::points::{self, Point};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// Number of points that run at once. The services mostly wait, on PostgreSQL until a dead node is
/// removed.
const EMBEDDED_AT_ONCE: usize = 8;
const SERVED_AT_ONCE: usize = 4;
/// Maximum number of attempts at a point while the machine is too slow.
const TRIES: usize = 3;

/// A workload with a judgement.
pub(crate) trait Trial: Sync {
    /// The installation that is copied for each point.
    fn kept(&self) -> &Kept;

    /// Returns the points of an undisturbed run.
    fn record(&self) -> Vec<Point>;

    /// Tries one point. Returns `true` if it was reached, or `None` if the machine was too slow for
    /// a result.
    fn attempt(&self, point: &Point) -> Option<bool>;
}

/// Tries a point several times, until the machine is fast enough. Returns `None` if it never was.
fn persist(trial: &impl Trial, point: &Point) -> Option<bool> {
    let mut tries = (0..TRIES).filter_map(|_| trial.attempt(point));
    tries.next()
}

/// Returns the points to try, and how many of them must be reached.
fn chosen(trial: &impl Trial, count: usize) -> (Vec<Point>, usize) {
    let asked = std::env::var("OGENE_FAULTS").unwrap_or_else(|_| count.to_string());
    if asked.contains(':') {
        return (vec![Point(asked)], 1);
    }
    let points = trial.record();
    let Ok(count) = asked.parse::<usize>() else {
        assert_eq!(
            asked, "all",
            "OGENE_FAULTS is a number, `all`, or one point"
        );
        let all = points.len();
        return (points, all);
    };
    let seed = u64::from(std::process::id());
    println!("{count} of {} points, from seed {seed}", points.len());
    // No two runs make exactly the same calls, so more points are tried in place of unreached ones.
    (points::sample(points, 2 * count, seed), count)
}

/// Tries several points at once: as many as must be reached, and another for each that was not
/// reached or not judged. Fails with the points at which an invariant was violated, and if less
/// than nine in ten were reached.
pub(crate) fn run(trial: &impl Trial, count: usize) {
    let began = Instant::now();
    let (points, wanted) = chosen(trial, count);
    let (tried, missed) = (Mutex::new(0), AtomicUsize::new(0));
    let next = || {
        let mut tried = tried.lock().expect("nobody failed with it");
        let is_due = *tried < wanted + missed.load(Ordering::Relaxed);
        let point = points.get(*tried).filter(|_| is_due)?;
        *tried += 1;
        Some(point)
    };
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some(point) = next() {
            let began = Instant::now();
            if let Ok(was) = catch_unwind(AssertUnwindSafe(|| persist(trial, point))) {
                missed.fetch_add(usize::from(was != Some(true)), Ordering::Relaxed);
                let word = match was {
                    Some(true) => "reached",
                    Some(false) => "not reached",
                    None => "not judged, as the machine was too slow",
                };
                println!("{point}: {word}, {} ms", began.elapsed().as_millis());
            } else {
                eprintln!("wrong at OGENE_FAULTS='{point}'");
                wrong.lock().expect("pushed").push(point.to_string());
            }
        }
    };
    let at_once = if trial.kept().is_embedded() {
        EMBEDDED_AT_ONCE
    } else {
        SERVED_AT_ONCE
    };
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().expect("no worker failed");
    let tried = tried.into_inner().expect("no worker failed");
    let reached = tried - missed.into_inner() - wrong.len();
    println!(
        "{tried} points, {reached} of them reached, {} wrong, {} s",
        wrong.len(),
        began.elapsed().as_secs()
    );
    assert!(
        wrong.is_empty(),
        "each alone: OGENE_FAULTS=POINT cargo test -p server --test system\n{}",
        wrong.join("\n")
    );
    let enough = wanted.min((points.len() * 9).div_ceil(10));
    assert!(reached >= enough, "{reached} of {enough} were reached");
}
