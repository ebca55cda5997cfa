//! The parts that the comparisons with other products share. Both products run by turns.

use crate::database::REPOSITORY;
use crate::figures::{Figures, medians, summary};
use crate::measure::configuration;
use crate::plan::Plan;
use crate::process::{Process, until};
use crate::progress::progress;
use crate::site::{START_TIMEOUT, Setup};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time that a process of another product may take until it accepts connections.
const LISTEN_TIMEOUT: Duration = Duration::from_mins(2);

/// A compared figure: key, label, and `true` if more is better.
pub(crate) type Compared = (&'static str, &'static str, bool);

/// The runs of both products.
pub(crate) struct Sides {
    /// The name of the other product.
    other: &'static str,
    machine: Value,
    runs_of_ogene: Vec<Figures>,
    runs_of_other: Vec<Figures>,
}

impl Sides {
    pub(crate) fn new(other: &'static str, machine: Value) -> Self {
        Self {
            other,
            machine,
            runs_of_ogene: Vec::new(),
            runs_of_other: Vec::new(),
        }
    }

    /// Adds a run of Ogene.
    pub(crate) fn ogene(&mut self, run: u32, plan: Plan, figures: Result<Figures>) {
        self.runs_of_ogene.push(shown("ogene", run, plan, figures));
    }

    /// Adds a run of the other product.
    pub(crate) fn other(&mut self, run: u32, plan: Plan, figures: Result<Figures>) {
        let shown = shown(&self.other.to_lowercase(), run, plan, figures);
        self.runs_of_other.push(shown);
    }

    /// Writes the document, and prints a table. Returns `true` if no check failed.
    pub(crate) fn finish(
        &self,
        setup: &Setup,
        plan: Plan,
        compared: &[Compared],
        json: Option<&Path>,
    ) -> Result<bool> {
        let mut all = self.runs_of_ogene.iter().chain(&self.runs_of_other);
        let clean = all.all(|run| run.faults().is_empty());
        let (text, ratios) = self.compare(compared);
        let mut document = json!({
            "clean": clean,
            "machine": self.machine,
            "configuration": configuration(setup, plan),
            "ogene": summary(&self.runs_of_ogene, &[], setup.database),
            "ratios": ratios,
        });
        document[self.other.to_lowercase()] = summary(&self.runs_of_other, &[], setup.database);
        if let Some(path) = json {
            fs::write(path, format!("{document:#}\n"))
                .with_context(|| format!("{}", path.display()))?;
        }
        write!(io::stdout(), "{text}")?;
        Ok(clean)
    }

    /// Returns a table, and the ratios by name. A ratio above 1 favours Ogene.
    fn compare(&self, compared: &[Compared]) -> (String, Value) {
        let (ogene, other) = (medians(&self.runs_of_ogene), medians(&self.runs_of_other));
        let mut text = format!(
            "| what | Ogene | {} | times better |\n|---|---:|---:|---:|\n",
            self.other
        );
        let mut ratios = serde_json::Map::new();
        for &(figure, what, more_is_better) in compared {
            let (Some(&ours), Some(&theirs)) = (ogene.get(figure), other.get(figure)) else {
                continue;
            };
            let (over, under) = if more_is_better {
                (ours, theirs)
            } else {
                (theirs, ours)
            };
            let ratio = over / under.max(1e-4);
            ratios.insert(figure.to_owned(), json!(ratio));
            // Writing to a string does not fail.
            let _ = writeln!(text, "| {what} | {ours:.3} | {theirs:.3} | {ratio:.2} |");
        }
        (text, ratios.into())
    }
}

fn shown(name: &str, run: u32, plan: Plan, figures: Result<Figures>) -> Figures {
    let figures = figures.unwrap_or_else(|error| Figures::failed(&error));
    let (runs, values) = (plan.runs, Value::from(figures.values()));
    progress(&format!("{name} {run}/{runs}: {values}"));
    for fault in figures.faults() {
        progress(&format!("{name}: {fault}"));
    }
    figures
}

/// Runs a script of the repository that installs a product.
pub(crate) fn install(script: &str) -> Result<()> {
    let installed = Command::new(script)
        .current_dir(REPOSITORY)
        .stdout(io::stderr())
        .status()?;
    if !installed.success() {
        bail!("{script} failed");
    }
    Ok(())
}

/// Waits until an address accepts connections. `RabbitMQ` alone takes half a minute on a busy machine.
pub(crate) async fn listens(address: SocketAddr) -> Result<()> {
    until(LISTEN_TIMEOUT, || TcpStream::connect(address).is_ok())
        .await
        .with_context(|| format!("{address} takes no connections"))?;
    Ok(())
}

/// Waits until so many connections to the SMSC are bound, by its newest line.
pub(crate) async fn binds(smsc: &Process, binds: u64) -> Result<()> {
    let bound = || {
        let log = smsc.log();
        let newest = log
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str::<Value>(line).ok()?["binds"].as_u64());
        newest.unwrap_or(0)
    };
    until(START_TIMEOUT, || bound() >= binds)
        .await
        .context("the carrier's connections are not bound")?;
    Ok(())
}

/// Checks that the SMSC received so many messages, each once.
pub(crate) fn carried(figures: &mut Figures, carrier: &Value, messages: u64) {
    for figure in ["submits", "accepted"] {
        let found = carrier[figure].as_u64().unwrap_or(0);
        figures.expect(&format!("{figure} of the SMSC"), messages, found);
    }
}
