//! An installation of its own for each test.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;
use testkit::Schema;

/// An installation: a directory with a configuration, and a database in it or on PostgreSQL.
pub(super) struct Installation {
    directory: TempDir,
    /// The line of the configuration that names the database.
    database: String,
    /// The lock is held until the end.
    schema: Option<Schema>,
}

impl Installation {
    /// Makes an installation on the database of this run.
    pub(super) fn new() -> Self {
        let Some(schema) = Schema::asked_for() else {
            return Self::embedded();
        };
        let mut installation = Self::on(&schema.url());
        installation.schema = Some(schema);
        installation
    }

    /// Makes an installation on the embedded database in every run.
    pub(super) fn embedded() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let data_dir = directory.path().join("data").display().to_string();
        Self::with(directory, format!("data_dir = {data_dir:?}\n"))
    }

    /// Makes an installation on a PostgreSQL of the test's own.
    pub(super) fn on(database_url: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self::with(directory, format!("database_url = {database_url:?}\n"))
    }

    fn with(directory: TempDir, database: String) -> Self {
        let installation = Self {
            directory,
            database,
            schema: None,
        };
        installation.configure("");
        installation
    }

    /// Writes the configuration: the database, a free port, and further keys.
    pub(super) fn configure(&self, more: &str) {
        let text = format!("{}[http]\nlisten = \"127.0.0.1:0\"\n{more}", self.database);
        fs::write(self.path().join("ogene.toml"), text).expect("written");
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        // The binary of this build, or another one that is named, such as the release build.
        let named = std::env::var_os("OGENE_BINARY");
        let binary = named.unwrap_or_else(|| env!("CARGO_BIN_EXE_ogene").into());
        let mut command = Command::new(binary);
        command.current_dir(self.path()).env_clear().args(arguments);
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    /// Returns the answer of a command with `--json`.
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let [error, told] =
            [&output.stderr, &output.stdout].map(|said| String::from_utf8_lossy(said));
        assert!(output.status.success(), "{arguments:?}: {error}{told}");
        serde_json::from_slice(&output.stdout).expect("one JSON value")
    }

    /// Returns the rows of a list.
    pub(super) fn rows(&self, arguments: &[&str]) -> Vec<Value> {
        let list = self.json(arguments);
        list["items"].as_array().expect("a list").clone()
    }

    /// Returns the exit code and the JSON error of a command that fails.
    pub(super) fn failure(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(&[arguments, &["--json"]].concat());
        let error: Value = serde_json::from_slice(&output.stderr).expect("one JSON value");
        let message = error["error"]["message"].as_str().expect("a message");
        (output.status.code(), message.to_owned())
    }

    /// Returns the same for a command that also logs.
    pub(super) fn failure_among_logs(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().last().unwrap_or_default();
        // A log that is not on a terminal is JSON up to its last line.
        let log: Option<Value> = serde_json::from_str(last).ok();
        let sentence = log.as_ref().and_then(|line| line["message"].as_str());
        (output.status.code(), sentence.unwrap_or(last).to_owned())
    }
}
