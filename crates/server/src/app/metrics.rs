//! Prometheus: the recorder behind `metrics`, and the figures that the system has of this process.

mod meanings;

use crate::logs;
use ::metrics::{counter, gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::fs;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::time::interval;

/// Bounds of every histogram whose name ends in `_seconds`.
const SECONDS: [f64; 15] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0,
];
/// Bounds of all other histograms, which count: sends in a commit, recipients in a batch.
const COUNTS: [f64; 12] = [
    1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1_000.0, 5_000.0, 10_000.0,
];

/// The interval at which values of histograms are folded into their buckets. The recorder keeps
/// each value until then, so without this an unscraped service would grow for ever.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The recorder, which renders the metrics of this process.
#[derive(Clone)]
pub(super) struct Metrics(PrometheusHandle);

/// Installs the recorder. It is called once, because `metrics` has one recorder for the process.
pub(super) fn install() -> Metrics {
    static INSTALLED: OnceLock<PrometheusHandle> = OnceLock::new();
    let handle = INSTALLED.get_or_init(|| {
        // The bounds are not empty, which is the only possible fault.
        let builder = PrometheusBuilder::new()
            .set_buckets(&COUNTS)
            .and_then(|builder| {
                builder.set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            })
            .unwrap_or_default();
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        if ::metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("metrics: recorder not installed, another one is; /metrics stays empty");
        }
        meanings::describe();
        handle
    });
    Metrics(handle.clone())
}

impl Metrics {
    /// Folds values into their buckets until it is aborted.
    pub(super) async fn keep_up(self) {
        let mut ticks = interval(UPKEEP_INTERVAL);
        loop {
            ticks.tick().await;
            self.0.run_upkeep();
        }
    }

    /// Returns all metrics as Prometheus text.
    pub(super) fn render(&self) -> String {
        counter!("ogene_log_lines_lost_total").absolute(logs::lost_lines());
        if let Some(process) = Process::read() {
            gauge!("process_resident_memory_bytes").set(process.resident_bytes);
            gauge!("process_open_fds").set(process.open_files);
            return format!("{}{}", self.0.render(), process.cpu_time());
        }
        self.0.render()
    }
}

/// The figures of this process in `/proc`, on systems that have it.
struct Process {
    resident_bytes: f64,
    open_files: f64,
    cpu_s: f64,
}

impl Process {
    /// Returns the processor time as a counter. The recorder counts in whole numbers only.
    fn cpu_time(&self) -> String {
        let (name, seconds) = ("process_cpu_seconds_total", self.cpu_s);
        let meaning = "Processor time of this process, its own and the system's for it.";
        format!("# HELP {name} {meaning}\n# TYPE {name} counter\n{name} {seconds}\n\n")
    }

    fn read() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let resident = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u32 = resident.trim().strip_suffix("kB")?.trim().parse().ok()?;
        let open_files = fs::read_dir("/proc/self/fd").ok()?.count();
        Some(Self {
            resident_bytes: f64::from(kib) * 1024.0,
            open_files: f64::from(u32::try_from(open_files).ok()?),
            cpu_s: cpu_s(&fs::read_to_string("/proc/self/stat").ok()?)?,
        })
    }
}

/// Returns user and system time from `/proc/self/stat`, whose second field may hold spaces in
/// brackets. Linux reports hundredths of a second, whatever its own clock.
fn cpu_s(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut times = rest.split_whitespace().skip(11).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((f64::from(user) + f64::from(system)) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_found_behind_a_name_with_spaces() {
        let stat = "7 (o gene) x) S 1 7 7 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 4 0 100 0 0";
        assert_eq!(cpu_s(stat), Some(3.0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_shows_in_the_metrics() {
        let text = install().render();
        assert!(text.contains("process_resident_memory_bytes "), "{text}");
        let counter = "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total ";
        assert!(text.contains(counter), "{text}");
    }
}
