//! The benchmark. It measures a release binary of `ogene`, which runs in a process of its own with
//! durable defaults. `ogene smsc` and a callback receiver use the same cores. The benchmark prints
//! one JSON document or a table. See docs/performance/method.md.
//!
//! | part | file |
//! |---|---|
//! | the measurements and their checks | `scenario`, one file each |
//! | the size of a measurement, its runs, and its lines of progress | `plan`, `measure`, `progress` |
//! | the table of all goals, the comparisons with Kannel and Jasmin | `table`, `comparison`, `kannel`, `jasmin` |
//! | the measured service, its carrier and its customer | `site`, `database`, `process`, `quota` |
//! | large databases, copied by SQL | `copies` |
//! | the customer's side: sends, callbacks, the console | `load`, `http`, `callbacks`, `browser` |
//! | the same by SMPP: submits, receipts | `clients` |
//! | the carrier's side: a proxy before the SMSC, a carrier by HTTP | `tap`, `http_sink` |
//! | the payment provider | `payment_provider` |
//! | figures, goals, medians, and the machine | `figures`, `machine` |

mod browser;
mod callbacks;
mod clients;
mod comparison;
mod copies;
mod database;
mod figures;
mod http;
mod http_sink;
mod jasmin;
mod kannel;
mod load;
mod machine;
mod measure;
mod payment_provider;
mod plan;
mod process;
mod progress;
mod quota;
mod scenario;
mod site;
mod table;
mod tap;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use database::Kind;
use plan::Plan;
use progress::progress;
use scenario::Scenario;
use site::{Protocol, Setup};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Default number of runs of a comparison.
const COMPARISON_RUNS: u32 = 5;

/// Measures ogene. The figures are JSON on standard output, and the progress is on standard error.
///
/// The exit code is 1 if a message was lost, sent twice or charged wrongly. A missed goal is only
/// shown.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Example: cargo run --release -p bench -- single bulk --runs 3")]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// Scenarios to measure [default: all]
    scenarios: Vec<Scenario>,
    /// Database of the service
    #[arg(long, value_enum, default_value = "sqlite")]
    database: Kind,
    #[command(flatten)]
    run: RunOptions,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure all scenarios on SQLite and on PostgreSQL, and write one table with the goals
    Table {
        #[command(flatten)]
        run: RunOptions,
        #[command(flatten)]
        target: table::Target,
    },
    /// Compare the scenario `single` with the same load on Kannel, by turns: rates, CPU, ratios
    Kannel {
        /// Database of the service
        #[arg(long, value_enum, default_value = "sqlite")]
        database: Kind,
        /// File for all figures, as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        #[command(flatten)]
        run: RunOptions,
    },
    /// Compare four sessions of customers by SMPP with the same load on Jasmin, by turns
    Jasmin {
        /// Database of the service
        #[arg(long, value_enum, default_value = "sqlite")]
        database: Kind,
        /// File for all figures, as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        #[command(flatten)]
        run: RunOptions,
    },
}

/// The options of a run, for every command.
#[derive(Debug, Args)]
struct RunOptions {
    /// Run a tenth of the load, once
    #[arg(long)]
    quick: bool,
    /// Number of runs, of which the figures are medians [default: 1; for `table`, `kannel` and
    /// `jasmin` 5, or 1 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: Option<u32>,
    /// Release binary of ogene [default: cargo builds it]
    #[arg(long, value_name = "PATH")]
    ogene: Option<PathBuf>,
    /// Processes of the service that share the database
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4))]
    nodes: u32,
    /// Cores that each process of the service may use, such as 0.25. The load has all cores. This
    /// option needs root [default: all]
    #[arg(long, value_name = "N", value_parser = cores)]
    cores: Option<f64>,
    /// HTTP connections that send single messages
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    connections: u16,
    /// SMPP connections to the carrier
    #[arg(long, default_value_t = 8, value_name = "N")]
    binds: u32,
    /// In-flight window of each SMPP connection, in submits
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    window: u32,
    /// Time between a response of the SMSC and its receipt
    #[arg(long, default_value = "200ms", value_name = "TIME")]
    receipt_delay: String,
    /// Messages of the scenario `single` and of `kannel`; a tenth of them with --quick
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1_000..=9_000_000))]
    messages: u64,
    /// Settled messages of the scenarios `stored`, `search` and `pages`; a tenth of them with --quick
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(100_000..=90_000_000))]
    stored: u64,
    /// Numbers that the scenario `dnd` imports; a tenth of them with --quick
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(100_000..=50_000_000))]
    dnd_numbers: u64,
}

/// Parses a number of cores. With less than a tenth, the service could not stay connected.
fn cores(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(cores) if (0.1..=64.0).contains(&cores) => Ok(cores),
        _ => Err("a number from 0.1 to 64".to_owned()),
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool> {
    // The load has one thread, so that it leaves cores to the measured service.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            clean = choose(options) => clean,
            // The run is dropped, and all its processes and files with it.
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("interrupted"),
        }
    })
}

async fn choose(options: &Options) -> Result<bool> {
    match &options.command {
        None => {
            let run = &options.run;
            let setup = run.setup(options.database)?;
            let scenarios = match options.scenarios.as_slice() {
                [] => Scenario::value_variants(),
                named => named,
            };
            measure::some(&setup, scenarios, run.plan(1)).await
        }
        Some(Command::Table { run, target }) => {
            let plan = run.plan(run.usual_runs());
            table::all(&run.setup(Kind::Postgres)?, plan, target).await
        }
        Some(Command::Kannel {
            database,
            json,
            run,
        }) => {
            let plan = run.plan(run.usual_runs());
            kannel::beside(&run.setup(*database)?, plan, json.as_deref()).await
        }
        Some(Command::Jasmin {
            database,
            json,
            run,
        }) => {
            let plan = run.plan(run.usual_runs());
            jasmin::beside(&run.setup(*database)?, plan, json.as_deref()).await
        }
    }
}

impl RunOptions {
    /// Returns the number of runs of scenarios that compare.
    fn usual_runs(&self) -> u32 {
        if self.quick { 1 } else { COMPARISON_RUNS }
    }

    fn plan(&self, usual_runs: u32) -> Plan {
        Plan {
            quick: self.quick,
            runs: self.runs.unwrap_or(usual_runs),
        }
    }

    fn setup(&self, database: Kind) -> Result<Setup> {
        let nodes = usize::try_from(self.nodes)?;
        if nodes > 1 && database == Kind::Sqlite {
            bail!("several nodes need a database that they can share: --database postgres");
        }
        let ogene = site::binary(self.ogene.as_deref())?;
        // The benchmark itself is in target/release, so this is on the disk of the repository.
        let own = std::env::current_exe()?;
        let target = own.ancestors().nth(2).context("no target directory")?;
        Ok(Setup {
            ogene,
            target: target.to_owned(),
            connections: usize::from(self.connections),
            binds: self.binds,
            window: self.window,
            max_per_second: None,
            carriers: 1,
            protocol: Protocol::Smpp,
            gateway: "",
            sections: String::new(),
            response_delay: "0ms".to_owned(),
            receipt_delay: self.receipt_delay.clone(),
            database,
            nodes,
            cores: self.cores,
            messages: if self.quick {
                self.messages / 10
            } else {
                self.messages
            },
            stored: self.stored,
            dnd_numbers: self.dnd_numbers,
            limits: site::LIMITS,
            smpp_connections: None,
        })
    }
}
