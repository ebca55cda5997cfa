//! The runs of scenarios, and the document of their figures.

use crate::figures::{self, Figures};
use crate::machine::{self, Processors};
use crate::plan::Plan;
use crate::progress::progress;
use crate::scenario::Scenario;
use crate::site::Setup;
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The runs of each scenario.
pub(crate) type Results = Vec<(Scenario, Vec<Figures>)>;

/// Measures scenarios on one database and prints the document. Returns `true` if no check failed.
pub(crate) async fn some(setup: &Setup, scenarios: &[Scenario], plan: Plan) -> Result<bool> {
    let machine = describe(setup)?;
    let results = run_all(setup, scenarios, plan).await;
    let clean = are_clean(&results);
    let document = json!({
        "clean": clean,
        "machine": machine,
        "configuration": configuration(setup, plan),
        "scenarios": summaries(setup, &results),
    });
    writeln!(io::stdout(), "{document:#}")?;
    Ok(clean)
}

/// The machine and the disk of the measurement.
pub(crate) fn describe(setup: &Setup) -> Result<Value> {
    let scratch = tempfile::tempdir_in(&setup.target)?;
    machine::describe(scratch.path())
}

pub(crate) fn are_clean(results: &Results) -> bool {
    let mut runs = results.iter().flat_map(|(_, runs)| runs);
    runs.all(|run| run.faults().is_empty())
}

/// Medians, goals and faults of each scenario.
pub(crate) fn summaries(setup: &Setup, results: &Results) -> Map<String, Value> {
    results
        .iter()
        .map(|(scenario, runs)| {
            let summary = figures::summary(runs, scenario.goals(), setup.database);
            (scenario.name(), summary)
        })
        .collect()
}

pub(crate) fn configuration(setup: &Setup, plan: Plan) -> Value {
    json!({
        "quick": plan.quick,
        "runs": plan.runs,
        "connections": setup.connections,
        "binds": setup.binds,
        "window": setup.window,
        "receipt_delay": setup.receipt_delay,
        "database": setup.database.name(),
        "nodes": setup.nodes,
        "cores_of_each_node": setup.cores,
        "messages": setup.messages,
        "stored": setup.stored,
        "all_else": "defaults, but for limits and callbacks.allow_private_targets: docs/performance/method.md",
    })
}

/// The runs of all scenarios take turns, so that a machine that slows down slows all of them alike.
/// A run that fails is a fault, and the others go on.
pub(crate) async fn run_all(setup: &Setup, scenarios: &[Scenario], plan: Plan) -> Results {
    let mut results: Vec<_> = scenarios.iter().map(|&it| (it, Vec::new())).collect();
    for run in 1..=plan.runs {
        for (scenario, runs) in &mut results {
            let turns = scenario.turns(plan.runs);
            if run > turns {
                continue;
            }
            let before = Processors::now();
            let ran = scenario.run(setup, plan).await;
            let mut figures = ran.unwrap_or_else(|error| Figures::failed(&error));
            figures.set("stolen_share", Processors::now().stolen_since(&before));
            let (name, shown) = (scenario.name(), Value::from(figures.values()));
            progress(&format!(
                "{} {name} {run}/{turns}: {shown}",
                setup.database.name()
            ));
            for fault in figures.faults() {
                progress(&format!("{name}: {fault}"));
            }
            runs.push(figures);
        }
    }
    results
}
