//! The benchmark: measures a release binary of `ogene` in a process of its own, on durable defaults, with
//! `ogene smsc` and a callback receiver on the same cores. Prints one JSON document; see docs/benchmark.md.
//!
//! | what | file |
//! |---|---|
//! | what is measured, and what must add up | `scenario`, one file each |
//! | the service, its carrier and its customer, set up and taken down | `site`, `process` |
//! | the customer's side: sends, callbacks | `load`, `http`, `callbacks` |
//! | the wire to the carrier, watched | `tap` |
//! | figures, goals, medians; where they were measured | `figures`, `machine` |

mod callbacks;
mod figures;
mod http;
mod load;
mod machine;
mod process;
mod scenario;
mod site;
mod tap;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use figures::Figures;
use scenario::Scenario;
use serde_json::{Value, json};
use site::Setup;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Measures ogene: prints JSON on standard output, and how it goes on standard error.
///
/// Exits with 1 when anything was lost, sent twice or charged wrongly; a goal that is missed is only shown.
#[derive(Debug, Parser)]
#[command(after_help = "Example: cargo run --release -p bench -- single bulk --runs 3")]
struct Options {
    /// What to measure [default: everything]
    scenarios: Vec<Scenario>,
    /// A tenth of the load
    #[arg(long)]
    quick: bool,
    /// How often each is run; the figures are medians
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// A release binary of ogene [default: built by cargo]
    #[arg(long, value_name = "PATH")]
    ogene: Option<PathBuf>,
    /// Where everything is kept
    #[arg(long, value_enum, default_value = "sqlite")]
    database: site::Database,
    /// Processes of the service that share the database
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4))]
    nodes: u32,
    /// Connections to the carrier
    #[arg(long, default_value_t = 8, value_name = "N")]
    binds: u32,
    /// Submits without a response on each of them
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    window: u32,
    /// How long after its response the SMSC sends a receipt
    #[arg(long, default_value = "200ms", value_name = "TIME")]
    receipt_delay: String,
}

fn main() -> ExitCode {
    match measure(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<bool> {
    // One thread: the load must not take the cores from what it measures.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let setup = setup(options)?;
    let machine = {
        let scratch = tempfile::tempdir_in(&setup.target)?;
        machine::describe(scratch.path())?
    };
    let scenarios = match options.scenarios.as_slice() {
        [] => Scenario::value_variants(),
        named => named,
    };
    let results = runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            results = run_all(&setup, scenarios, options) => results,
            // What runs is dropped, and with it every child and every file.
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("interrupted"),
        }
    })?;
    let clean = results
        .iter()
        .all(|(_, runs)| runs.iter().all(|run| run.faults().is_empty()));
    let scenarios: serde_json::Map<String, Value> = results
        .iter()
        .map(|(scenario, runs)| {
            let summary = figures::summary(runs, scenario.goals());
            (scenario.name().to_owned(), summary)
        })
        .collect();
    let document = json!({
        "clean": clean,
        "machine": machine,
        "configuration": configuration(options),
        "scenarios": scenarios,
    });
    writeln!(io::stdout(), "{document:#}")?;
    Ok(clean)
}

fn setup(options: &Options) -> Result<Setup> {
    let nodes = usize::try_from(options.nodes)?;
    if nodes > 1 && options.database == site::Database::Sqlite {
        bail!("several nodes need a database that they can share: --database postgres");
    }
    let ogene = site::binary(options.ogene.as_deref())?;
    // The benchmark itself lies in target/release, so this is on the disk of the repository.
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(2).context("no target directory")?;
    Ok(Setup {
        ogene,
        target: target.to_owned(),
        binds: options.binds,
        window: options.window,
        receipt_delay: options.receipt_delay.clone(),
        database: options.database,
        nodes,
    })
}

fn configuration(options: &Options) -> Value {
    json!({
        "quick": options.quick,
        "runs": options.runs,
        "binds": options.binds,
        "window": options.window,
        "receipt_delay": options.receipt_delay,
        "database": format!("{:?}", options.database).to_lowercase(),
        "nodes": options.nodes,
        "all_else": "defaults, but for limits.sends_per_minute and callbacks.allow_private_targets",
    })
}

/// Runs take turns, so that a machine that slows down slows all scenarios alike.
async fn run_all(
    setup: &Setup,
    scenarios: &[Scenario],
    options: &Options,
) -> Result<Vec<(Scenario, Vec<Figures>)>> {
    let mut results: Vec<_> = scenarios.iter().map(|&it| (it, Vec::new())).collect();
    for run in 1..=options.runs {
        for (scenario, runs) in &mut results {
            let figures = scenario.run(setup, options.quick).await?;
            let shown = Value::from(figures.values());
            progress(&format!(
                "{} {run}/{}: {shown}",
                scenario.name(),
                options.runs
            ));
            for fault in figures.faults() {
                progress(&format!("{}: {fault}", scenario.name()));
            }
            runs.push(figures);
        }
    }
    Ok(results)
}

fn progress(line: &str) {
    // A standard error that is gone is no reason to stop measuring.
    let _ = writeln!(io::stderr(), "{line}");
}
