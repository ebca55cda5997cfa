//! The benchmark: measures a release binary of `ogene` in a process of its own, on durable defaults, with
//! `ogene smsc` and a callback receiver on the same cores. Prints one JSON document, or a table; see
//! docs/performance/method.md.
//!
//! | part | file |
//! |---|---|
//! | the measurements and their checks | `scenario`, one file each |
//! | how much is measured; runs and their document; the table of all goals; beside Kannel | `plan`, `measure`, `table`, `kannel` |
//! | the service, its carrier and its customer, set up and taken down | `site`, `database`, `process`, `quota` |
//! | what takes too long to bring about by sending | `copies` |
//! | the customer's side: sends, callbacks | `load`, `http`, `callbacks` |
//! | the wire to the carrier, watched | `tap` |
//! | figures, goals, medians; where they were measured | `figures`, `machine` |

mod callbacks;
mod copies;
mod database;
mod figures;
mod http;
mod kannel;
mod load;
mod machine;
mod measure;
mod plan;
mod process;
mod quota;
mod scenario;
mod site;
mod table;
mod tap;

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use database::Kind;
use measure::progress;
use plan::Plan;
use scenario::Scenario;
use site::Setup;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// How often what compares and judges is run.
const SEVERAL_RUNS: u32 = 5;

/// Measures ogene: prints JSON on standard output, and how it goes on standard error.
///
/// Exits with 1 when anything was lost, sent twice or charged wrongly; a goal that is missed is only shown.
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Example: cargo run --release -p bench -- single bulk --runs 3")]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// The scenarios to measure [default: everything]
    scenarios: Vec<Scenario>,
    /// Where everything is kept
    #[arg(long, value_enum, default_value = "sqlite")]
    database: Kind,
    #[command(flatten)]
    conduct: Conduct,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything, on SQLite and on PostgreSQL, as one table with its goals
    Table {
        #[command(flatten)]
        conduct: Conduct,
        #[command(flatten)]
        target: table::Target,
    },
    /// The scenario `single` and the same load on Kannel, by turns: rates, CPU, ratios
    Kannel {
        /// Where ogene keeps everything
        #[arg(long, value_enum, default_value = "sqlite")]
        database: Kind,
        /// A file for all figures, as JSON
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        #[command(flatten)]
        conduct: Conduct,
    },
}

/// How it is measured, whatever it is.
#[derive(Debug, Args)]
struct Conduct {
    /// A tenth of the load, once
    #[arg(long)]
    quick: bool,
    /// How often each is run; the figures are medians [default: 1; of `table` and `kannel` 5, or 1 if quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: Option<u32>,
    /// A release binary of ogene [default: built by cargo]
    #[arg(long, value_name = "PATH")]
    ogene: Option<PathBuf>,
    /// Processes of the service that share the database
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4))]
    nodes: u32,
    /// Cores that each process of the service may use, as 0.25, while the load has all; needs root [default: all]
    #[arg(long, value_name = "N", value_parser = cores)]
    cores: Option<f64>,
    /// HTTP connections that send single messages
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    connections: u16,
    /// Connections to the carrier
    #[arg(long, default_value_t = 8, value_name = "N")]
    binds: u32,
    /// Submits without a response on each of them
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    window: u32,
    /// How long after its response the SMSC sends a receipt
    #[arg(long, default_value = "200ms", value_name = "TIME")]
    receipt_delay: String,
    /// Messages in the scenario `single` and beside Kannel, a tenth of them if quick
    #[arg(long, default_value_t = 50_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1_000..=9_000_000))]
    messages: u64,
    /// Settled messages in the scenario `stored`, a tenth of them if quick
    #[arg(long, default_value_t = 10_000_000, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(100_000..=90_000_000))]
    stored: u64,
}

/// Less than a tenth is less than the service needs to stay connected.
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
    // One thread: the load must not take the cores from what it measures.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            clean = choose(options) => clean,
            // The run is dropped, and with it every child and every file.
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("interrupted"),
        }
    })
}

async fn choose(options: &Options) -> Result<bool> {
    match &options.command {
        None => {
            let conduct = &options.conduct;
            let setup = conduct.setup(options.database)?;
            let scenarios = match options.scenarios.as_slice() {
                [] => Scenario::value_variants(),
                named => named,
            };
            measure::some(&setup, scenarios, conduct.plan(1)).await
        }
        Some(Command::Table { conduct, target }) => {
            let plan = conduct.plan(conduct.usual_runs());
            table::all(&conduct.setup(Kind::Postgres)?, plan, target).await
        }
        Some(Command::Kannel {
            database,
            json,
            conduct,
        }) => {
            let plan = conduct.plan(conduct.usual_runs());
            kannel::beside(&conduct.setup(*database)?, plan, json.as_deref()).await
        }
    }
}

impl Conduct {
    /// Returns the number of runs of scenarios that compare.
    fn usual_runs(&self) -> u32 {
        if self.quick { 1 } else { SEVERAL_RUNS }
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
        // The benchmark itself lies in target/release, so this is on the disk of the repository.
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
            limits: site::LIMITS,
        })
    }
}
