//! The comparison with Kannel: both run the load of the scenario `single`, by turns.
//!
//! Kannel is Debian's, with our configuration. Its spool is on the disk. It has as many connections
//! to the same SMSC, the same window, and a `dlr-url` to the same receiver. It does not sync the
//! spool before it answers, and keeps its state of receipts in memory.

mod boxes;

use crate::callbacks::Callbacks;
use crate::database::REPOSITORY;
use crate::figures::{Figures, medians, summary};
use crate::load::{Request, closed_loop_on, open};
use crate::measure::{configuration, describe};
use crate::plan::Plan;
use crate::progress::progress;
use crate::scenario::Scenario;
use crate::scenario::checks::SETTLE_TIMEOUT;
use crate::scenario::single::{WARM_UP, whole_life};
use crate::site::Setup;
use anyhow::{Context, Result, bail};
use boxes::Boxes;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Maximum duration of a run.
const TIMEOUT: Duration = Duration::from_mins(6);
/// The compared figures: key, label, and `true` if more is better.
const COMPARED: [(&str, &str, bool); 6] = [
    ("messages_per_s", "messages a second, whole life", true),
    ("accepts_per_s", "accepts a second meanwhile", true),
    ("accept_p50_ms", "accept p50, ms", false),
    ("accept_p99_ms", "accept p99, ms", false),
    ("cpu_s_per_1000", "CPU seconds per 1,000 messages", false),
    ("peak_mb", "peak memory, MB", false),
];

/// Measures both and prints a table. Returns `true` if no check failed.
pub(crate) async fn beside(setup: &Setup, plan: Plan, json: Option<&Path>) -> Result<bool> {
    install()?;
    let machine = describe(setup)?;
    let (mut ogene, mut kannel) = (Vec::new(), Vec::new());
    for run in 1..=plan.runs {
        let figures = Scenario::Single.run(setup, plan).await;
        ogene.push(shown("ogene", run, plan.runs, figures));
        let figures = tokio::time::timeout(TIMEOUT, measure(setup)).await;
        let figures = figures.context("it takes too long").flatten();
        kannel.push(shown("kannel", run, plan.runs, figures));
    }
    let clean = [&ogene, &kannel]
        .iter()
        .all(|runs| runs.iter().all(|run| run.faults().is_empty()));
    let (text, ratios) = compare(&ogene, &kannel);
    let document = json!({
        "clean": clean,
        "machine": machine,
        "configuration": configuration(setup, plan),
        "ogene": summary(&ogene, &[], setup.database),
        "kannel": summary(&kannel, &[], setup.database),
        "ratios": ratios,
    });
    if let Some(path) = json {
        fs::write(path, format!("{document:#}\n"))
            .with_context(|| format!("{}", path.display()))?;
    }
    write!(io::stdout(), "{text}")?;
    Ok(clean)
}

fn install() -> Result<()> {
    let script = Command::new("bench/install-kannel")
        .current_dir(REPOSITORY)
        .stdout(io::stderr())
        .status()?;
    if !script.success() {
        bail!("Kannel is not here");
    }
    Ok(())
}

fn shown(name: &str, run: u32, runs: u32, figures: Result<Figures>) -> Figures {
    let figures = figures.unwrap_or_else(|error| Figures::failed(&error));
    let values = Value::from(figures.values());
    progress(&format!("{name} {run}/{runs}: {values}"));
    for fault in figures.faults() {
        progress(&format!("{name}: {fault}"));
    }
    figures
}

/// Runs the scenario `single` on Kannel.
async fn measure(setup: &Setup) -> Result<Figures> {
    let messages = setup.messages;
    let all = WARM_UP + messages;
    let callbacks = Callbacks::start()?;
    let boxes = Boxes::start(setup).await?;
    let request = Request::kannel(boxes::USER, &callbacks.url());
    // The connections are opened first, because Kannel accepts many new ones slowly.
    let mut streams = open(&[boxes.http], setup.connections).await?;
    closed_loop_on(&mut streams, &request, 0..WARM_UP, Duration::MAX).await?;
    callbacks.wait_for(WARM_UP, SETTLE_TIMEOUT).await?;

    let before = boxes.usage()?;
    let numbers = WARM_UP..all;
    let load = closed_loop_on(&mut streams, &request, numbers, Duration::MAX).await?;
    let last = callbacks.wait_for(all, SETTLE_TIMEOUT).await?;
    let mut figures = whole_life(&load, last, [&before, &boxes.usage()?], messages);
    let told = callbacks.count();
    figures.expect("callbacks of a delivery", all, told.delivered);
    let carrier = boxes.stop().await?;
    for figure in ["submits", "accepted"] {
        let found = carrier[figure].as_u64().unwrap_or(0);
        figures.expect(&format!("{figure} of the SMSC"), all, found);
    }
    Ok(figures)
}

/// Returns a table, and the ratios by name. A ratio above 1 favours Ogene.
fn compare(ogene: &[Figures], kannel: &[Figures]) -> (String, Value) {
    let (ogene, kannel) = (medians(ogene), medians(kannel));
    let mut text = "| what | Ogene | Kannel | times better |\n|---|---:|---:|---:|\n".to_owned();
    let mut ratios = serde_json::Map::new();
    for (figure, what, more_is_better) in COMPARED {
        let (Some(&ours), Some(&theirs)) = (ogene.get(figure), kannel.get(figure)) else {
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
