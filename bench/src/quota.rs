//! Part of the processor time for the service alone, as a container is given: with less than the load has, far more
//! can be offered than is sustained.

use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where Linux has its control groups, one tree (version 2) or one for each resource (version 1).
const GROUPS: &str = "/sys/fs/cgroup";
const GROUPS_V1: &str = "/sys/fs/cgroup/cpu";
/// Microseconds: short, so that waiting for the next one is not most of what an answer takes.
const PERIOD: f64 = 10_000.0;

/// Several may be made by one process, at once.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A control group, removed when it is dropped: after the processes in it.
pub(crate) struct Quota {
    dir: PathBuf,
}

impl Quota {
    /// For `cores`, such as 0.25. Needs root.
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

    /// A command that joins the group, then becomes `program`, which so counts its cores as it will have them.
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
        // Best effort: an empty group takes no time from anybody.
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
