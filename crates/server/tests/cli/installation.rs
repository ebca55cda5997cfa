//! An installation of its own for each test.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// An installation: a directory with a configuration and a database.
pub(super) struct Installation(TempDir);

impl Installation {
    pub(super) fn new() -> Self {
        let installation = Self(tempfile::tempdir().expect("a directory"));
        let data_dir = installation.path().join("data");
        let text = format!(
            "data_dir = {:?}\n[http]\nlisten = \"127.0.0.1:0\"\n",
            data_dir.display().to_string()
        );
        fs::write(installation.path().join("ogene.toml"), text).expect("written");
        installation
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ogene"));
        command.current_dir(self.path()).env_clear().args(arguments);
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    /// What a command answers to a machine.
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {error}");
        serde_json::from_slice(&output.stdout).expect("one JSON value")
    }

    /// What a command that fails says to a machine, and its exit code.
    pub(super) fn failure(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(&[arguments, &["--json"]].concat());
        let error: Value = serde_json::from_slice(&output.stderr).expect("one JSON value");
        let message = error["error"]["message"].as_str().expect("a message");
        (output.status.code(), message.to_owned())
    }

    /// The same for a command that also logs.
    pub(super) fn failure_among_logs(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().last().unwrap_or_default();
        (output.status.code(), last.to_owned())
    }
}
