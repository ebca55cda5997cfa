//! The machine of a measurement: processor, kernel, disk and commit.

use crate::figures::{Figures, Latencies};
use anyhow::Result;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The probe of the disk ends after so many appends, or after this time.
const SYNCS: u64 = 300;
const SYNC_TIME: Duration = Duration::from_secs(2);
const SYNC_BYTES: usize = 4096;

/// Returns this machine, the disk under `dir`, and the commit that is built.
pub(crate) fn describe(dir: &Path) -> Result<Value> {
    let cores = std::thread::available_parallelism()?.get();
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map(|(_, model)| model.trim());
    let memory = read("/proc/meminfo");
    let memory = memory
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(1));
    Ok(json!({
        "cores": cores,
        "cpu_model": model,
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "memory_kib": memory.and_then(|kib| kib.parse::<u64>().ok()),
        "load_average": read("/proc/loadavg").trim(),
        "commit": commit(),
        "fsync": probe(dir)?,
    }))
}

/// The use of this machine's processors since its start, in its own ticks (proc(5), `/proc/stat`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Processors {
    used: f64,
    stolen: f64,
}

impl Processors {
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let line = stat.lines().next().unwrap_or_default();
        let ticks: Vec<f64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        match ticks[..] {
            [user, nice, system, _, _, irq, softirq, stolen, ..] => Self {
                used: user + nice + system + irq + softirq,
                stolen,
            },
            _ => Self::default(),
        }
    }

    /// Returns the steal time as a share of the wanted time. Above a few hundredths, latencies are
    /// not those of the service alone.
    pub(crate) fn stolen_since(&self, then: &Self) -> f64 {
        let (used, stolen) = (self.used - then.used, self.stolen - then.stolen);
        stolen / (used + stolen).max(1.0)
    }
}

/// Returns the time since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the benchmark has no clock to be given"
)]
pub(crate) fn unix_time() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"])?;
    let changed = !git(&["status", "--porcelain"])?.is_empty();
    Some(if changed {
        commit + " with changes"
    } else {
        commit
    })
}

/// Measures how fast the disk syncs appends: `fdatasync` after each 4 KiB.
fn probe(dir: &Path) -> Result<Value> {
    let mut file = File::create(dir.join("fsync-probe"))?;
    let page = [b'x'; SYNC_BYTES];
    let mut latencies = Latencies::new()?;
    let began = Instant::now();
    let mut syncs = 0;
    while syncs < SYNCS && began.elapsed() < SYNC_TIME {
        let at = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        latencies.record(at.elapsed());
        syncs += 1;
    }
    let mut figures = Figures::default();
    figures.rate("per_second", syncs, began.elapsed());
    figures.latency("sync", &latencies);
    Ok(figures.values().into())
}
