//! A child process. Its output is in files, `/proc` shows its usage, and it ends with the
//! benchmark.

use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;
use tokio::time::Instant;

/// Time that a child may take to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(12);
/// Interval at which a condition is checked.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// Interval at which the usage of a process is read.
const USAGE_INTERVAL: Duration = Duration::from_millis(10);
/// Linux counts CPU time in hundredths of a second, whatever the clock of its kernel.
const TICKS_PER_S: f64 = 100.0;

/// A child process that is killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    name: &'static str,
    output: PathBuf,
    errors: PathBuf,
}

/// The usage of a process since its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu_s: f64,
    pub(crate) resident_bytes: f64,
    pub(crate) peak_resident_bytes: f64,
    pub(crate) written_bytes: f64,
}

impl Usage {
    /// Returns the usage of a process so far.
    pub(crate) fn of(pid: u32) -> Result<Self> {
        let of = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
        usage(&of("stat")?, &of("status")?, &of("io")?)
            .with_context(|| format!("/proc does not tell what the process {pid} uses"))
    }

    /// Adds the usage of another process.
    pub(crate) fn add(&mut self, other: Self) {
        self.cpu_s += other.cpu_s;
        self.resident_bytes += other.resident_bytes;
        self.peak_resident_bytes += other.peak_resident_bytes;
        self.written_bytes += other.written_bytes;
    }
}

impl Process {
    /// Starts `command` in a process group of its own, so that Ctrl-C reaches only the benchmark.
    pub(crate) fn start(name: &'static str, command: &mut Command, dir: &Path) -> Result<Self> {
        let output = dir.join(format!("{name}.out"));
        let errors = dir.join(format!("{name}.log"));
        let child = command
            .stdin(std::process::Stdio::null())
            .stdout(File::create(&output)?)
            .stderr(File::options().create(true).append(true).open(&errors)?)
            .process_group(0)
            .spawn()
            .with_context(|| format!("{name} cannot be started"))?;
        Ok(Self {
            child,
            name,
            output,
            errors,
        })
    }

    /// Returns its standard error so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Returns the last lines of its standard error, the latest first.
    pub(crate) fn last_lines(&self) -> String {
        let log = self.log();
        let last: Vec<_> = log.lines().rev().take(5).collect();
        last.join(" | ")
    }

    /// Fails if the process has ended, with the end of its log.
    pub(crate) fn check(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("{} ended with {status}: {}", self.name, self.last_lines());
        }
        Ok(())
    }

    /// Sends SIGTERM. Returns the standard output, and the time until the end of the process.
    pub(crate) async fn stop(mut self) -> Result<(String, Duration)> {
        let asked = Instant::now();
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        let mut ended: Option<ExitStatus> = None;
        let name = self.name;
        until(STOP_TIMEOUT, || {
            ended = self.child.try_wait().ok().flatten();
            ended.is_some()
        })
        .await
        .with_context(|| format!("{name} does not stop"))?;
        let status = ended.context("no exit status")?;
        if !status.success() {
            bail!("{name} ended with {status}");
        }
        Ok((fs::read_to_string(&self.output)?, asked.elapsed()))
    }

    /// Waits until the process ends by itself. Returns its standard output, and its last usage.
    pub(crate) async fn finish(mut self, timeout: Duration) -> Result<(String, Usage)> {
        let (began, mut usage) = (Instant::now(), Usage::default());
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            // A process that ends at this moment has no usage.
            usage = self.usage().unwrap_or(usage);
            if began.elapsed() > timeout {
                bail!("{} does not end within {timeout:?}", self.name);
            }
            tokio::time::sleep(USAGE_INTERVAL).await;
        };
        if !status.success() {
            bail!("{} ended with {status}: {}", self.name, self.last_lines());
        }
        Ok((fs::read_to_string(&self.output)?, usage))
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Returns its usage so far.
    pub(crate) fn usage(&self) -> Result<Usage> {
        Usage::of(self.child.id()).with_context(|| self.name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // RabbitMQ is a child of its script, so the whole group ends.
            let group = format!("-{}", self.child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        }
        // A process that has ended already is no fault here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn usage(stat: &str, status: &str, io: &str) -> Option<Usage> {
    // The second field is the name in brackets, which may hold spaces.
    let (_, after_name) = stat.rsplit_once(')')?;
    let ticks = after_name.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.map(|field| field.parse().unwrap_or(0.0)).sum();
    let kib = |name| {
        Some(
            field(status, name)?
                .trim_end_matches(" kB")
                .parse::<f64>()
                .ok()?
                * 1024.0,
        )
    };
    Some(Usage {
        cpu_s: ticks / TICKS_PER_S,
        resident_bytes: kib("VmRSS")?,
        peak_resident_bytes: kib("VmHWM")?,
        written_bytes: field(io, "write_bytes")?.parse().ok()?,
    })
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .map(str::trim)
}

/// Waits until a condition holds. Returns the time of the wait.
pub(crate) async fn until(timeout: Duration, mut holds: impl FnMut() -> bool) -> Result<Duration> {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() > timeout {
            bail!("not within {timeout:?}");
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    Ok(began.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_read_behind_a_name_with_spaces() {
        let stat = "7 (o gene) x) S 1 7 7 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 4 0 100 0 0";
        let status = "Name:\togene\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let io = "wchar: 7\nwrite_bytes: 4096\ncancelled_write_bytes: 0\n";
        let usage = usage(stat, status, io).expect("all fields");
        assert_eq!(format!("{:.2}", usage.cpu_s), "3.00");
        assert_eq!(format!("{:.0}", usage.resident_bytes), "1048576");
        assert_eq!(format!("{:.0}", usage.peak_resident_bytes), "2097152");
        assert_eq!(format!("{:.0}", usage.written_bytes), "4096");
    }
}
