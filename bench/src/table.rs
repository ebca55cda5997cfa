//! All goals at once: every scenario on SQLite and on PostgreSQL, as JSON and as Markdown.

mod markdown;
mod rows;

use crate::database::Kind;
use crate::figures::medians;
use crate::measure::{self, Results, are_clean};
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::site::Setup;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rows::Medians;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

const DATABASES: [Kind; 2] = [Kind::Sqlite, Kind::Postgres];

/// The files of the result.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Scenarios to measure [default: all]
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<Scenario>,
    /// File for all figures, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// File for the table, as Markdown [default: standard output]
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// The figures so far, by database.
#[derive(Default)]
struct Found {
    medians: Vec<(Kind, Medians)>,
    summaries: Map<String, Value>,
    clean: bool,
}

/// Measures all scenarios. Returns `true` if no check failed.
pub(crate) async fn all(setup: &Setup, plan: Plan, target: &Target) -> Result<bool> {
    let scenarios = match target.only.as_slice() {
        [] => Scenario::value_variants(),
        named => named,
    };
    let machine = measure::describe(setup)?;
    let mut found = Found {
        clean: true,
        ..Found::default()
    };
    for database in DATABASES {
        let nodes = match database {
            Kind::Sqlite => 1,
            Kind::Postgres => setup.nodes,
        };
        let setup = Setup {
            database,
            nodes,
            ..setup.clone()
        };
        let results = measure::run_all(&setup, scenarios, plan).await;
        found.add(&setup, &results);
        // The figures are written after each run, so that hours of measuring are not lost.
        found.write(&setup, plan, &machine, target)?;
    }
    if target.markdown.is_none() {
        let head = markdown::head(&machine, plan);
        write!(io::stdout(), "{head}{}", markdown::tables(&found.medians))?;
    }
    Ok(found.clean)
}

impl Found {
    fn add(&mut self, setup: &Setup, results: &Results) {
        self.clean &= are_clean(results);
        let medians = results
            .iter()
            .map(|(scenario, runs)| (scenario.name(), medians(runs)))
            .collect();
        self.medians.push((setup.database, medians));
        let summaries = measure::summaries(setup, results);
        self.summaries
            .insert(setup.database.name().to_owned(), summaries.into());
    }

    fn write(&self, setup: &Setup, plan: Plan, machine: &Value, target: &Target) -> Result<()> {
        let mut configuration = measure::configuration(setup, plan);
        configuration["database"] = "both".into();
        let document = json!({
            "clean": self.clean,
            "machine": machine,
            "configuration": configuration,
            "databases": self.summaries,
        });
        if let Some(path) = &target.json {
            fs::write(path, format!("{document:#}\n"))
                .with_context(|| format!("{}", path.display()))?;
        }
        if let Some(path) = &target.markdown {
            let head = markdown::head(machine, plan);
            fs::write(path, head + &markdown::tables(&self.medians))
                .with_context(|| format!("{}", path.display()))?;
        }
        Ok(())
    }
}
