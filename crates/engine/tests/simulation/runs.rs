//! The seeds of a run, and the report of a failure.

use super::life::{ENDING, Ended, simulate};
use std::env;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Number of seeds in a short and in a long run.
const SEEDS: u64 = 80;
const MANY_SEEDS: u64 = 20_000;
/// One seed in this number is run twice, and the two runs are compared.
const REPEAT_INTERVAL: u64 = 10;
/// Number of seeds between two lines of progress.
const PROGRESS_INTERVAL: u64 = 1_000;
/// Number of trace lines that a failure shows.
const TAIL: usize = 40;

#[test]
fn every_seed_keeps_the_invariants() {
    if let Some(seed) = number("OGENE_SEED") {
        let ended = simulate(seed);
        println!("{}", ended.lines.join("\n"));
        assert!(ended.violations.is_empty(), "{}", report(seed, &ended));
        return;
    }
    let first = number("OGENE_FIRST_SEED").unwrap_or(0);
    let long = env::var_os("OGENE_LONG").is_some();
    let count = number("OGENE_SEEDS").unwrap_or(if long { MANY_SEEDS } else { SEEDS });
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + count {
                        return;
                    }
                    if seed > first && seed.is_multiple_of(PROGRESS_INTERVAL) {
                        eprintln!("seed {seed} of {}", first + count);
                    }
                    if let Some(failure) = failure(seed) {
                        failures.lock().unwrap().push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    println!("{count} seeds from {first} on, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap())
}

fn failure(seed: u64) -> Option<String> {
    let Ok(ended) = thread::Builder::new()
        .spawn(move || simulate(seed))
        .unwrap()
        .join()
    else {
        return Some(format!("OGENE_SEED={seed} panicked"));
    };
    if !ended.violations.is_empty() {
        return Some(report(seed, &ended));
    }
    // Tasks that wait for the same shutdown are woken in any order (`tokio::sync::watch`).
    let ordered = !ended.lines.iter().any(|line| line.ends_with(ENDING));
    if ordered && seed.is_multiple_of(REPEAT_INTERVAL) {
        let again = simulate(seed);
        let pairs = ended.lines.iter().zip(&again.lines);
        let differing = pairs.into_iter().find(|(first, second)| first != second);
        if again.hash != ended.hash {
            return Some(format!(
                "OGENE_SEED={seed} ran differently the second time: {differing:?}"
            ));
        }
    }
    None
}

fn report(seed: u64, ended: &Ended) -> String {
    let tail = ended.lines.len().saturating_sub(TAIL);
    format!(
        "{}\n…\n{}\n\nOGENE_SEED={seed} cargo test -p engine --test simulation runs it alone",
        ended.violations.join("\n"),
        ended.lines[tail..].join("\n"),
    )
}
