//! A quota of processor time for the service alone, such as a container has. A load with more cores
//! can offer far more than the service sustains.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The directories of Linux's control groups: one tree (version 2), or one for each resource
/// (version 1).
const GROUPS: &str = "/sys/fs/cgroup";
const GROUPS_V1: &str = "/sys/fs/cgroup/cpu";
/// The period in microseconds. It is short, so that the wait for the next one is a small part of a
/// latency.
const PERIOD: f64 = 10_000.0;

/// Number of groups so far, because a process may make several at once.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A control group. It is removed when it is dropped, after the processes in it.
pub(crate) struct Quota {
    dir: PathBuf,
}

impl Quota {
    /// Makes a group for `cores`, such as 0.25. This needs root.
    pub(crate) fn make(cores: f64) -> Result<Self> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("ogene-bench-{}-{number}", std::process::id());
        let is_v2 = Path::new(GROUPS).join("cgroup.controllers").exists();
        let parent = Path::new(if is_v2 { GROUPS } else { GROUPS_V1 });
        let make = || {
            if is_v2 {
                fs::write(parent.join("cgroup.subtree_control"), "+cpu")?;
            }
            let quota = Self {
                dir: parent.join(name),
            };
            fs::create_dir(&quota.dir)?;
            for (file, text) in limits(cores, is_v2) {
                fs::write(quota.dir.join(file), text)?;
            }
            anyhow::Ok(quota)
        };
        make().with_context(|| {
            format!(
                "{cores} cores: no control group in {}, is this root?",
                parent.display()
            )
        })
    }

    /// Returns a command that joins the group and then becomes `program`, which so counts the cores
    /// of its quota.
    pub(crate) fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new("sh");
        let join = "echo $$ > \"$1\" && shift && exec \"$@\"";
        command.args(["-c", join, "sh"]);
        command.arg(self.dir.join("cgroup.procs")).arg(program);
        command
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // A failure is ignored: an empty group takes no time from other processes.
        let _ = fs::remove_dir(&self.dir);
    }
}

/// Returns the files and their values: `cpu.max` (cgroups(7), version 2) or the keys of the CFS (version 1).
fn limits(cores: f64, is_v2: bool) -> Vec<(&'static str, String)> {
    let quota = cores * PERIOD;
    if is_v2 {
        return vec![("cpu.max", format!("{quota:.0} {PERIOD:.0}"))];
    }
    vec![
        ("cpu.cfs_period_us", format!("{PERIOD:.0}")),
        ("cpu.cfs_quota_us", format!("{quota:.0}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_a_core_is_a_quarter_of_the_period() {
        let max = limits(0.25, true);
        assert_eq!(max, [("cpu.max", "2500 10000".to_owned())]);
        let cfs = limits(0.25, false);
        assert_eq!(cfs[1], ("cpu.cfs_quota_us", "2500".to_owned()));
    }
}
